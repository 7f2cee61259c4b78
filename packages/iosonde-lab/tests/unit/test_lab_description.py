"""What a lab is made of, as people write it; whether a file system can be made so."""

import json

import pytest

from iosonde.campaign.spec.schema import schema_text
from iosonde.core.errors import InputError
from iosonde.core.units import parse_bits
from iosonde_lab.description import WORDS, LabDescription, description_from_dict, description_from_words
from iosonde_lab.filesystems import MODULES, recipe
from messages import raises


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("993mbit", 993e6),
        ("1gbit", 1e9),
        ("5.8Gbit", 5.8e9),
        ("580 Mbit/s", 580e6),
        ("64kbit", 64e3),
        ("900bit", 900),
        ("10MB/s", 80e6),
        ("1MiB/s", 8 * 2**20),
    ],
)
def test_rates_of_links_are_bits_as_vendors_count(text, bits):
    assert parse_bits(text) == bits


@pytest.mark.parametrize("text", ["", "fast", "1.2.3mbit", "10", "10Mb/s", "-1mbit"])
def test_rates_that_are_none(text):
    with pytest.raises(InputError):
        parse_bits(text)


def test_words_become_base_units_and_what_is_not_said_is_not_limited():
    words = {
        "file_system": "glusterfs",
        "servers": 5,
        "net": "993mbit",
        "disk_read": "117MB/s",
        "disk_write": "148MB/s",
        "disk_size": "1GiB",
        "write_back": "8MiB",
        "delay": "2ms",
        "cpus": 0.5,
        "scale": None,
    }
    found = description_from_words(words, {"replica": "2"})
    assert (found.servers, found.clients, found.disk_bytes, found.write_back_bytes) == (5, 2, 2**30, 8 * 2**20)
    assert (found.link_bits_per_s, found.read_rate, found.write_rate) == (993e6, 117e6, 148e6)
    assert (found.delay_s, found.cpus_per_host, found.options) == (0.002, 0.5, {"replica": "2"})
    bare = LabDescription("local")
    assert (bare.link_bits_per_s, bare.read_rate, bare.write_rate) == (None, None, None)


def test_a_scale_divides_all_rates():
    found = description_from_words({"file_system": "local", "net": "5800mbit", "disk_read": "100MB/s", "scale": 10}, {})
    assert (found.link_bits_per_s, found.read_rate, found.write_rate) == (580e6, 10e6, None)


def test_a_description_survives_its_file():
    found = description_from_words({"file_system": "local", "name": "a-1", "net": "1gbit"}, {"x": "y"})
    assert description_from_dict({**found.to_dict(), "of_a_newer_version": 1}) == found


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"name": "../etc"}, "valid name"),
        ({"name": "Up"}, "valid name"),
        ({"name": "a" * 32}, "valid name"),
        ({"base_fs": "zfs"}, "one of xfs"),
        ({"servers": 0}, "number of hosts"),
        ({"servers": 2, "clients": 3, "clients_on_servers": 3}, "there are 2 servers and 3 clients"),
        ({"clients_on_servers": -1}, "--clients-on-servers -1"),
        ({"clients": 61}, "number of hosts"),
        ({"net": "0mbit"}, "must be positive"),
        ({"disk_read": "fast"}, "fast"),
        ({"cpus": -1}, "must be positive"),
        ({"cpus": -1}, "--cpus -1"),
        ({"net": "3"}, "lab: net: '3'"),
        ({"scale": float("nan")}, "--scale nan"),
        ({"cpus": float("inf")}, "--cpus inf"),
        ({"net": "9" * 400 + "gbit"}, "--net inf"),
        ({"disk_size": "1KiB"}, "320 MiB or more"),
        ({"disk_size": "1KiB", "base_fs": "btrfs"}, "128 MiB or more"),
        ({"disks": 3}, "unknown key"),
        ({"delay": "soon"}, "soon"),
        ({"disk_size": "big"}, "big"),
        ({"delay": -1}, "--delay -1"),
        ({"delay": float("inf")}, "--delay inf"),
    ],
)
def test_what_cannot_be_is_refused_with_its_name(words, said):
    with pytest.raises(InputError) as error:
        description_from_words({"file_system": "local", **words}, {})
    assert said in f"{error.value.message} {error.value.hint}"


@pytest.mark.parametrize("name", MODULES)
def test_every_recipe_says_what_it_is_and_refuses_options_that_it_has_not(name):
    how = recipe(name)
    assert how.title and all(how.options.values()) and all(how.live.values())
    n_servers = how.usual_servers if how.fixed_servers else 6
    how.check(n_servers, {})
    with raises("unknown-option"):
        how.check(n_servers, {"stripes": "3"})


def test_a_file_system_that_is_none():
    with raises("unknown-file-system", file_system="zfs") as error:
        recipe("zfs")
    assert "glusterfs" in error.value.hint


@pytest.mark.parametrize(
    ("servers", "options", "code", "values"),
    [
        (3, {"replica": "2"}, "not-a-multiple", {"count": 2}),
        (4, {"disperse": "3"}, "not-a-multiple", {"count": 3}),
        (3, {"replica": "many"}, "invalid-number", {"setting": "many"}),
        (3, {"shard": "1MiB"}, "out-of-range", {}),
        (6, {"replica": "2", "disperse": "3"}, "conflicting-options", {}),
        (3, {"redundancy": "1"}, "conflicting-options", {}),
    ],
)
def test_gluster_refuses_what_its_volumes_cannot_be(servers, options, code, values):
    with raises(code, InputError, **values):
        recipe("glusterfs").check(servers, options)


def test_gluster_takes_any_option_of_a_volume_by_its_own_name():
    recipe("glusterfs").check(4, {"replica": "2", "performance.write-behind": "off", "shard": "64MiB"})


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("1gb", "write 1gbit for bits, 1GB/s for bytes"),
        ("1.5 MBps", None),
        ("10Mb/s", "write 10mbit for bits, 10MB/s for bytes"),
        ("1GB", "write 1gbit for bits, 1GB/s for bytes"),
        ("fast", "write bits like 993mbit, or bytes like 124MB/s"),
    ],
)
def test_a_rate_that_may_be_bits_or_bytes_is_asked_for_again(text, hint):
    if hint is None:
        assert parse_bits(text) == 12e6
        return
    with pytest.raises(InputError) as error:
        parse_bits(text)
    assert error.value.hint == hint


def test_the_schema_has_the_words_of_lab_up():
    known = json.loads(schema_text())["else"]["properties"]["lab"]["properties"]
    assert set(known) == {*WORDS, "set", "levels", "profile"}
