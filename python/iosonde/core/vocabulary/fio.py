"""fio 2.x and 3.x: options of a job, on a command line or in a job file, and of fio itself."""

import re
from collections.abc import Sequence

from .tool import Style, ToolOption, ValueKind, Vocabulary, count, declare_others, path, size, word

# Engines that wait for each operation, whatever the depth; engines whose operations are system calls on files.
SYNCHRONOUS_ENGINES = ("sync", "psync", "vsync", "pvsync", "pvsync2", "mmap")
CALLING_ENGINES = ("sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "posixaio", "io_uring")

FIO = Vocabulary(
    "fio",
    (
        size("block_size", "bs", "blocksize", is_read=True, default=4096),
        size("size", "size", is_read=True),
        size("file_size", "filesize", is_read=True),
        size("io_size", "io_size", "io_limit", is_read=True),
        word("rw", "rw", "readwrite"),
        word("engine", "ioengine", is_read=True),
        count("io_depth", "iodepth", is_read=True, default=1),
        count("ranks", "numjobs", is_read=True, default=1),
        word("runtime", "runtime", "timeout", is_read=True),
        count("percent_read", "rwmixread"),
        count("fsync_every", "fsync", is_read=True, default=0),
        count("files", "nrfiles", "nr_files", is_read=True, default=1),
        *(ToolOption((name,), ValueKind.SWITCH, name, True, default=0) for name in ("direct", "end_fsync")),
        path("filename"),
        path("directory"),
        *declare_others(
            "description name wait_for lockfile opendir ba bsrange bssplit randseed ignore_error rw_sequencer"
            " iodepth_batch iodepth_batch_complete_min iodepth_batch_complete_max iodepth_low io_submit_mode"
            " offset offset_increment offset_align number_ios random_generator random_distribution"
            " percentage_random file_service_type openfiles fallocate fadvise_hint fdatasync write_barrier"
            " sync_file_range loops startdelay ramp_time clocksource mem verify verify_interval verify_offset"
            " verify_pattern verify_async verify_backlog verify_backlog_batch trim_percentage trim_backlog"
            " trim_backlog_batch write_iolog read_iolog replay_redirect replay_scale replay_align"
            " replay_time_scale replay_skip merge_blktrace_file merge_blktrace_scalars merge_blktrace_iters"
            " exec_prerun exec_postrun ioscheduler zonemode zonesize zonecapacity zonerange zoneskip"
            " max_open_zones job_max_open_zones zone_reset_threshold zone_reset_frequency lockmem rwmixwrite nice"
            " prio prioclass thinktime thinktime_spin thinktime_blocks thinktime_blocks_type thinktime_iotime rate"
            " rate_min rate_process rate_cycle rate_iops rate_iops_min max_latency latency_target latency_window"
            " latency_percentile sync write_hint cpumask cpus_allowed cpus_allowed_policy numa_cpu_nodes"
            " numa_mem_policy exit_what write_bw_log bwavgtime write_lat_log write_iops_log iopsavgtime"
            " log_entries log_avg_msec log_hist_msec log_hist_coarseness write_hist_log log_compression"
            " log_compression_cpus log_alternate_epoch_clock_id buffer_pattern buffer_compress_percentage"
            " buffer_compress_chunk dedupe_percentage dedupe_mode dedupe_working_set_percentage percentile_list"
            " significant_figures gtod_cpu unified_rw_reporting continue_on_error profile cgroup cgroup_weight uid"
            " gid kb_base unit_base hugepage-size flow_id flow flow_sleep steadystate steadystate_duration"
            " steadystate_ramp_time",
        ),
        *declare_others(
            "output output-format terse-version eta eta-newline status-interval section alloc-size max-jobs idle-"
            " prof inflate-log bandwidth-log debug aux-path server client remote-config trigger trigger-file"
            " trigger-timeout trigger-remote daemonize filename_format",
        ),
        *declare_others(
            "unique_filename bs_unaligned randrepeat norandommap serialize_overlap fill_device file_append"
            " allrandrepeat atomic buffered overwrite time_based verify_only do_verify verify_fatal verify_dump"
            " experimental_verify verify_state_load verify_state_save trim_verify_zero read_iolog_chunked"
            " replay_no_stall read_beyond_wp ignore_zone_limits rate_ignore_thinktime latency_run invalidate"
            " create_serialize create_fsync create_on_open create_only allow_file_create allow_mounted_write"
            " pre_read fsync_on_close unlink unlink_each_loop exitall exitall_on_error stonewall new_group thread"
            " per_job_logs log_max_value log_offset log_prio log_store_compressed log_unix_epoch"
            " log_alternate_epoch block_error_percentiles group_reporting stats zero_buffers refill_buffers"
            " scramble_buffers dedupe_global clat_percentiles lat_percentiles slat_percentiles disk_util"
            " gtod_reduce disable_lat disable_clat disable_slat disable_bw_measurement error_dump cgroup_nodelete",
            ValueKind.SWITCH,
        ),
        *declare_others(
            "minimal append-terse readonly warnings-fatal parse-only version help showcmd cpuclock-test crctest"
            " cmdhelp enghelp merge-blktrace-only",
            ValueKind.SWITCH,
        ),
    ),
    Style.NAMES,
)

_SECTION = re.compile(r"\s*\[([^\[\]]+)\]\s*")
_ENTRY = re.compile(r"\s*([A-Za-z_][\w-]*)\s*(?:=\s*(.*?))?\s*")
# A value that a variable has: it is not known here.
_VARIABLES = re.compile(r"[$`]")
_GLOBAL = "global"
FioJobs = dict[str, dict[str, str]]
"""Name of a job → its options, as fio's JSON has them."""


def read_fio_jobs(words: Sequence[str]) -> FioJobs:
    """Return the jobs of a command line; none if it names a job file, or if a value is a variable's. Options before the
    first name are those of all jobs."""
    jobs: FioJobs = {}
    shared: dict[str, str] = {}
    options = shared
    for part in FIO.split(words):
        name, value = part.name.lstrip("-"), part.value or "1"
        if not name or _VARIABLES.search(value):
            return {}
        if name == "name":
            options = jobs[value] = dict(shared)
        else:
            options[name] = value
    return jobs


def list_fio_job_files(words: Sequence[str]) -> list[str]:
    """List the job files that a command line names."""
    return [part.value or "" for part in FIO.split(words) if not part.name]


def read_fio_job_file(lines: Sequence[str]) -> tuple[FioJobs, int]:
    """Return the jobs of a job file, and the number of lines that it has: it ends where a line is no part of it. No
    jobs if a value is a variable's."""
    jobs: FioJobs = {}
    shared: dict[str, str] = {}
    options, has_variables, n_lines = shared, False, 0
    for line in lines:
        if match := _SECTION.fullmatch(line):
            options = shared if match[1] == _GLOBAL else jobs.setdefault(match[1], dict(shared))
        elif match := _ENTRY.fullmatch(line):
            options[match[1]] = match[2] or "1"
            has_variables = has_variables or bool(_VARIABLES.search(options[match[1]]))
        elif line.strip() and line.strip()[0] not in ";#":
            break
        n_lines += 1
    return ({} if has_variables else jobs), n_lines
