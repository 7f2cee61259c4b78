"""The block devices behind a mount: through partitions, loop devices, device mapper and software RAID."""

import os
import stat
from pathlib import Path
from typing import Any

from . import mount, reading

_MAX_DEPTH = 8


def list_devices(mount_entry: mount.Mount, sys_root: Path = Path("/sys")) -> list[dict[str, Any]]:
    """Return the devices from the mounted one down to the disks, each after the one that it carries. Empty if none."""
    number = mount_entry.device if mount_entry.device[0] else _parse_device_number(mount_entry.source)
    return _list_chain(number, None, sys_root, 0) if number else []


def _list_chain(number: tuple[int, int], carries: str | None, sys_root: Path, depth: int) -> list[dict[str, Any]]:
    directory = (sys_root / "dev/block" / "{}:{}".format(*number)).resolve()
    if depth > _MAX_DEPTH or not directory.is_dir():
        return []
    device = _describe_device(directory, carries)
    chain = [device]
    if (directory / "partition").exists():
        chain += _list_chain(_number_in(directory.parent), device["name"], sys_root, depth + 1)
    for slave in sorted((directory / "slaves").glob("*")):
        chain += _list_chain(_number_in(slave), device["name"], sys_root, depth + 1)
    if device["backing_file"]:
        holder = mount.find_mount(Path(device["backing_file"]))
        if holder and holder.device[0]:
            chain += _list_chain(holder.device, device["name"], sys_root, depth + 1)
    return chain


def _describe_device(directory: Path, carries: str | None) -> dict[str, Any]:
    queue = directory / "queue"
    sectors = reading.read_number(directory / "size")
    return {
        "name": directory.name,
        "carries": carries,
        "size_bytes": None if sectors is None else sectors * 512,  # sysfs always counts in 512-byte sectors
        "model": reading.read_text(directory / "device/model") or reading.read_text(directory / "dm/name"),
        "vendor": reading.read_text(directory / "device/vendor"),
        "backing_file": reading.read_text(directory / "loop/backing_file"),
        "raid_level": reading.read_text(directory / "md/level"),
        "rotational": _to_flag(reading.read_number(queue / "rotational")),
        "scheduler": _parse_chosen(reading.read_text(queue / "scheduler")),
        "logical_block_bytes": reading.read_number(queue / "logical_block_size"),
        "physical_block_bytes": reading.read_number(queue / "physical_block_size"),
        "optimal_io_bytes": reading.read_number(queue / "optimal_io_size"),
        "requests": reading.read_number(queue / "nr_requests"),
        "largest_request_bytes": _multiply_value(reading.read_number(queue / "max_sectors_kb"), 1024),
        "read_ahead_bytes": _multiply_value(reading.read_number(queue / "read_ahead_kb"), 1024),
        "write_cache": reading.read_text(queue / "write_cache"),
    }


def _parse_device_number(source: str) -> tuple[int, int] | None:
    """Return the number of a device file; btrfs and others mount under a number of no device."""
    try:
        status = Path(source).stat()
    except OSError:
        return None
    return (os.major(status.st_rdev), os.minor(status.st_rdev)) if stat.S_ISBLK(status.st_mode) else None


def _number_in(directory: Path) -> tuple[int, int]:
    major, _, minor = (reading.read_text(directory / "dev") or "0:0").partition(":")
    return int(major), int(minor)


def _parse_chosen(options: str | None) -> str | None:
    """Parse ``mq-deadline [none]`` to none."""
    return options.partition("[")[2].partition("]")[0] if options and "[" in options else options


def _to_flag(value: int | None) -> bool | None:
    return None if value is None else bool(value)


def _multiply_value(value: int | None, factor: int) -> int | None:
    return None if value is None else value * factor
