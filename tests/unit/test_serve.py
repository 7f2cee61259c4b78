"""The dashboard without a browser: who is let in, that an address is words and never a path, that names are data."""

from __future__ import annotations

import html
import http.client
import json
import re
import threading
from contextlib import contextmanager
from urllib.parse import quote, urlencode

import pytest

import history_sample
import sample_store
from here import iosonde
from iosonde.core.errors import InputError, SystemFaultError
from iosonde.core.types import Experiment, Factor, Observation, Run, Trial
from iosonde.serve import guard as guards
from iosonde.serve import server as servers
from iosonde.serve.guard import Doorkeeper
from iosonde.serve.pages import PAGES
from iosonde.serve.pages.runs import _find_common_levels as find_common_levels
from iosonde.serve.pages.web_page import Address, build_link, describe_setting, list_notices
from iosonde.serve.shelf import open_shelf
from iosonde.store import Store
from iosonde.store.index import Index
from iosonde.store.lock import find_lock_holder, lock_experiment
from messages import assert_problem, codes, raises

PORT, TOKEN = 8642, "a-token-that-nobody-guesses"
OPEN, CLOSED = Doorkeeper("127.0.0.1", PORT, None), Doorkeeper("0.0.0.0", PORT, TOKEN)
HOSTILE = "<script>alert(1)</script>\"'\x1b[31m\u202e{{ 7*7 }}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("stores")
    (made / "secret").write_text("not for you")
    sample_store.main(str(made / "results"))
    store = Store.create(made / "<b>other")
    facts = {"subject_commit": HOSTILE, "target": HOSTILE, "machine": {"mount": {"type": HOSTILE}}}
    store.save_experiment(
        Experiment(
            "odd",
            HOSTILE,
            [Factor(HOSTILE)],
            {"steps": []},
            [Trial(n, {"nodes": 1}, n, n, n) for n in range(3)],
            1,
            HOSTILE,
        )
    )
    store.append_many(
        [
            Run(
                id=f"odd-{n}",
                experiment="odd",
                source=HOSTILE,
                started_at=f"2026-11-0{n + 1}T00:00:00Z",
                seconds=1.0,
                factors={HOSTILE: HOSTILE, "nodes": 1, "repetition": n},
                facts=facts,
                observations=[Observation(HOSTILE, HOSTILE, 1.0, HOSTILE)],
                missing=[HOSTILE] if n else [],
            )
            for n in range(2)
        ]
    )
    (store.path / "runs" / "<i>x").mkdir()
    (store.path / "runs" / "<i>x" / "run.json").write_text("{}")
    return made


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """The index of a command is no user's."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def shelf(folder):
    made = open_shelf([str(folder / "results"), str(folder / "<b>other")], Index())
    made.look(thorough=True)
    return made


def asked(shelf, target, guard=OPEN, **headers):
    return servers.answer_request(shelf, guard, target, {"Host": f"127.0.0.1:{PORT}"} | headers)


def text(shelf, path, **words):
    said = asked(shelf, f"{path}?{urlencode(words, doseq=True)}")
    assert said.status == 200, said.body
    return said.body.decode()


def test_what_the_stores_hold(shelf):
    said = text(shelf, "/")
    assert re.findall(r"\d+", said[said.index("experiments") - 3 :])[:3] == ["2", "9", "1"]
    assert "envelope-7f3a" in said and "/mnt/zeus" in said and "2 of 3" in said
    assert "envelope" not in text(shelf, "/", store=2)


@pytest.mark.parametrize(
    ("where", "runs"), [(["nodes=2"], 3), (["nodes>=1", "fs=nfs"], 6), (["complete=no"], 2), (["filesystem=ext4"], 0)]
)
def test_runs_are_found_by_the_words_of_where(shelf, where, runs):
    said = text(shelf, "/runs", where=[*where, ""])
    assert f"{runs} run" in said and said.count("/run?") == runs
    assert all(f'value="{one.replace(">", "&gt;")}"' in said for one in where)


def test_what_is_the_same_in_all_runs_is_said_once(shelf):
    said = text(shelf, "/runs", where=["experiment=envelope-7f3a"])
    assert said.count("fs=nfs") == 1 and said.count("nodes=2") == 3


def test_many_runs_come_in_parts(tmp_path):
    store = Store.create(tmp_path / "s")
    store.append_many([sample_store.run(number, 1, 0) for number in range(10)])
    shelf = open_shelf([str(store.path)], Index())
    shelf.look()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("iosonde.serve.pages.runs.ON_A_PAGE", 4)
        parts = [text(shelf, "/runs", page=number, where="nodes=1") for number in (1, 2, 3)]
    assert [said.count("/run?") for said in parts] == [4, 4, 2] and "part 3 of 3" in parts[2]
    assert "where=nodes%3D1&amp;page=2" in parts[0].replace("page=2&amp;where=nodes%3D1", "where=nodes%3D1&amp;page=2")


def test_a_run_is_said_as_show_says_it(shelf, folder):
    said = text(shelf, "/run", store=1, run="envelope-7f3a-0005", form="text")
    shown = iosonde("show", "results", "envelope-7f3a-0005", where=folder).stdout
    kept = html.unescape(re.search("<pre>(.*?)</pre>", said, re.DOTALL)[1])
    assert kept.strip() == shown.strip()
    assert "node02" in kept


@pytest.mark.slow
def test_the_page_of_a_run_is_its_report_and_leads_back(shelf):
    said = asked(shelf, "/run?store=1&run=envelope-7f3a-0001")
    body = said.body.decode()
    assert said.status == 200 and "sha256-" in said.policy and 'id="again"' in body
    addresses = [html.unescape(address) for address in re.findall(r'<a href="(/[^"]*)"', body)]
    assert len(addresses) == 5 and "/report?store=1&experiment=envelope-7f3a" in addresses
    assert "envelope-7f3a-0001" in asked(shelf, next(one for one in addresses if "form=text" in one)).body.decode()


@pytest.mark.slow
@pytest.mark.parametrize("missing", [[], ["rank 1"]])
def test_a_run_without_numbers_has_a_page(tmp_path, missing):
    store = Store.create(tmp_path / "s")
    store.append(Run("r", "e", "x", "2026-11-01T00:00:00Z", 1.0, {}, [], missing=missing))
    shelf = open_shelf([str(store.path)], Index())
    shelf.look()
    assert 'id="again"' in text(shelf, "/run", store=1, run="r")


def test_two_sides_are_compared(shelf):
    said = text(shelf, "/compare", a=1, where_a="nodes=1", b=1, where_b="nodes=2", response="read")
    assert "A: nodes=1, B: nodes=2" in said and "95 % intervals" in said


def test_history_is_that_of_the_first_store_until_another_one_is_chosen(shelf):
    page = text(shelf, "/history")
    assert (
        '<option value="1" selected>' in page
        and page.count("<figure") == text(shelf, "/history", store=1).count("<figure") > 0
    )
    assert '<option value="2" selected>' in text(shelf, "/history", store=2)


@pytest.mark.slow
def test_compare_beside_a_change_is_of_the_points_before_and_after_it(tmp_path):
    values = [1e8 * (1 + 0.01 * ((7 * day) % 10 - 5) / 5) * (0.9 if day >= 40 else 1) for day in range(60)]
    history_sample.write_values(tmp_path / "nightly", values)
    made = open_shelf([str(tmp_path / "nightly")], Index(tmp_path / "index.sqlite"))
    made.look(thorough=True)
    page = text(made, "/history", store=1)
    assert "2026-08-10" in page and page.count('<span class="above">open</span>') == 1
    (address,) = re.findall(r'href="(/change[^"]*)"', page)
    said = asked(made, html.unescape(address))
    body = " ".join(said.body.decode().split())
    assert said.status == 200 and "0.90" in body and "n 40+20" in body
    gone = asked(made, html.unescape(address).replace("nightly-20260810", "nightly-20260811"))
    assert gone.status == 400


@pytest.mark.long
@pytest.mark.slow
def test_the_page_of_a_run_has_its_own_policy(shelf):
    said = asked(shelf, "/report?store=1&run=envelope-7f3a-0001")
    assert said.status == 200 and b"<h1>" in said.body and said.body.count(b"envelope-7f3a-0002") == 0
    assert "sha256-" in said.policy and "frame-ancestors 'none'" in said.policy
    inside = re.search('Content-Security-Policy" content="(.*?)"', said.body.decode())[1].replace("&#39;", "'")
    assert said.policy.startswith(inside)


def test_what_is_measured_now(shelf, folder):
    assert "2 of 3" in (said := text(shelf, "/live")) and "process" not in said
    other = folder / "<b>other"
    with lock_experiment(other, "odd"):
        assert "process" in (said := text(shelf, "/live")) and "odd-1" in said and "2 of 3 trials" in said
        assert find_lock_holder(other, "odd") is not None
    assert find_lock_holder(other, "odd") is None and "process" not in text(shelf, "/live")


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/runs",
        "/live",
        "/compare",
        "/run?store=2&run=odd-1&form=text",
        pytest.param("/run?store=2&run=odd-1", marks=pytest.mark.slow),
        "/runs?where=nods%3D1",
        pytest.param("/report?store=2&experiment=odd", marks=pytest.mark.slow),
        "/history?store=2&where=complete%3Dany",
        "/run?store=2&run=%3Cscript%3E",
        f"/runs?where={quote(HOSTILE)}%3D1",
        f"/report?store=2&run={quote(HOSTILE)}",
        f"/history?store={quote(HOSTILE)}",
    ],
)
def test_hostile_names_are_data(shelf, path):
    said = asked(shelf, path).body.decode()
    assert not [one for one in ("<script>alert", "\x1b", "\u202e", "<b>other", "<i>x") if one in said]
    assert "alert(1)" not in said or "7*7" in said, "nothing of a name is a template"


@pytest.mark.parametrize(
    "target",
    [
        "/../secret",
        "/..%2fsecret",
        "/%2e%2e/secret",
        "//etc/passwd",
        "/page.css/../../secret",
        "/assets/base.html",
        "/run?store=1&run=../../secret",
        "/run?store=1&run=%2e%2e%2f%2e%2e%2fsecret",
        "/run?store=../secret&run=x",
        "/run?store=1&run=%00",
        "/report?store=1&run=../../secret",
        "/report?store=1&experiment=../../secret",
        "/history?store=../secret",
        "/compare?a=../secret&b=1",
        "/runs?page=-1",
        "/runs?page=1e9",
        "/runs?store=9",
        "/runs?page=%D9%A1",
        "/history?store=1&last=99999999999999999999",
        "/report?store=1",
        "/run?store=1",
        "http://[",
        "/runs?" + "a=1&" * 100,
        "*",
        "",
        "/\ud800",
    ],
)
def test_an_address_is_words_and_no_path(shelf, target):
    said = asked(shelf, target)
    assert said.status in (400, 404) and b"not for you" not in said.body


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("127.0.0.1:8642", True),
        ("localhost:8642", True),
        ("LOCALHOST", True),
        ("[::1]:8642", True),
        ("10.0.0.7", True),
        ("evil.example:8642", False),
        ("localhost.evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("", False),
        (None, False),
        ("localhost:80", False),
        ("localhost:8642:1", False),
        ("127.0.0.1:x", False),
        ("[", False),
    ],
)
def test_a_name_that_is_not_ours_is_not_answered(shelf, host, known):
    for guard in (OPEN, CLOSED):
        assert guard.knows_name(host) is known
    if not known:
        said = servers.answer_request(shelf, OPEN, "/", {"Host": host} if host is not None else {})
        assert said.status == 421 and b"envelope" not in said.body


def test_the_name_that_was_asked_for_is_ours():
    assert Doorkeeper("login1.cluster", PORT, TOKEN).knows_name("login1.cluster:8642")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": TOKEN},
        {"Authorization": "Bearer "},
        {"Cookie": f"iosonde-{PORT}=wrong"},
        {"Cookie": f"iosonde-1={TOKEN}"},
        {"Cookie": ";;=\x00"},
        {"Authorization": "Bearer \udcff"},
        {"Cookie": f"iosonde-{PORT}="},
    ],
)
def test_without_the_token_nothing_is_said(shelf, headers):
    for path in [*PAGES, "/nothing", "/?token=wrong", "/?token="]:
        said = asked(shelf, path, CLOSED, **headers)
        assert said.status == 401 and b"envelope" not in said.body and TOKEN.encode() not in said.body


@pytest.mark.parametrize(
    "headers", [{"Authorization": f"Bearer {TOKEN}"}, {"Cookie": f"a=b; iosonde-{PORT}={TOKEN}; c=d"}]
)
def test_with_the_token_everything_is(shelf, headers):
    assert asked(shelf, "/runs", CLOSED, **headers).status == 200


def test_the_token_goes_into_a_cookie_and_out_of_the_address(shelf):
    said = asked(shelf, f"/runs?token={TOKEN}&where=nodes%3D2", CLOSED)
    headers = dict(said.headers)
    assert (said.status, headers["Location"], said.body) == (303, "/runs?where=nodes%3D2", b"")
    assert headers["Set-Cookie"] == f"iosonde-{PORT}={TOKEN}; HttpOnly; SameSite=Lax; Path=/"
    assert dict(asked(shelf, f"//evil.example/?token={TOKEN}", CLOSED).headers)["Location"] == "/"


def test_tokens_are_compared_in_constant_time_and_are_long(monkeypatch):
    seen = []
    monkeypatch.setattr(guards.hmac, "compare_digest", lambda a, b: seen.append((a, b)) or True)
    assert CLOSED.is_token("x") and seen == [(b"x", TOKEN.encode())]
    assert len({guards.create_token() for _ in range(9)}) == 9 and len(guards.create_token()) == 32


@contextmanager
def connected(shelf, token=None):
    server = servers.create_server("127.0.0.1", 0)
    port = server.server_address[1]
    with servers.serve_in_background(server, shelf, Doorkeeper("127.0.0.1", port, token)):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        yield connection
        connection.close()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "NONSENSE"])
def test_nothing_but_reading_is_answered(shelf, method):
    with connected(shelf) as ask:
        ask.request(method, "/")
        said = ask.getresponse()
        assert said.status == 405 and said.headers["Allow"] == "GET, HEAD" and b"envelope" not in said.read()


def test_every_answer_carries_the_policy_and_is_kept_by_nobody(shelf, capfd):
    with connected(shelf, TOKEN) as ask:
        for path, head in (("/", {}), ("/", {"Authorization": f"Bearer {TOKEN}"}), (f"/?token={TOKEN}", {})):
            ask.request("GET", path, headers=head)
            said = ask.getresponse()
            said.read()
            policy = said.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
            assert said.headers["Cache-Control"] == "no-store" and said.headers["X-Content-Type-Options"] == "nosniff"
            assert said.headers["Referrer-Policy"] == "no-referrer" and "Python" not in said.headers["Server"]
    assert capfd.readouterr() == ("", ""), "no address, and no token, is logged"


def test_head_is_get_without_the_body(shelf):
    with connected(shelf) as ask:
        ask.request("HEAD", "/runs")
        said = ask.getresponse()
        assert said.status == 200 and int(said.headers["Content-Length"]) > 1000 and said.read() == b""


def test_a_mistake_of_ours_says_nothing_of_itself(shelf, monkeypatch, capfd):
    def broken(*_):
        raise RuntimeError("a secret")

    monkeypatch.setitem(PAGES, "/live", broken)
    with connected(shelf) as ask:
        ask.request("GET", "/live")
        said = ask.getresponse()
        assert said.status == 500 and b"secret" not in said.read()
    assert capfd.readouterr() == ("", "")


def test_a_new_run_is_shown(tmp_path):
    store = Store.create(tmp_path / "s")
    shelf = open_shelf([str(store.path)], Index())
    assert codes(list_notices(shelf)) == ["incomplete-index"] and list_notices(shelf)[0] in text(shelf, "/")
    shelf.look()
    assert list_notices(shelf) == [] and "envelope-7f3a" not in text(shelf, "/")
    store.append(sample_store.run(0, 1, 0))
    shelf.look()
    assert "envelope-7f3a" in text(shelf, "/")


def test_a_page_that_takes_long_is_made_once_until_a_store_changed(tmp_path):
    store = Store.create(tmp_path / "s")
    shelf, made = open_shelf([str(store.path)], Index()), []
    for _ in range(2):
        assert shelf.once("/x", lambda: made.append(1) or b"page") == b"page"
    store.append(sample_store.run(0, 1, 0))
    shelf.look()
    shelf.once("/x", lambda: made.append(1) or b"page")
    assert len(made) == 2


def test_a_store_that_goes_away_is_said(tmp_path):
    store = Store.create(tmp_path / "s")
    store.append(sample_store.run(0, 1, 0))
    shelf = open_shelf([str(store.path)], Index())
    shelf.look()
    (store.path / "runs").rename(tmp_path / "gone")
    (store.path / "runs").write_text("")
    shelf.look()
    (notice,) = list_notices(shelf)
    assert_problem(notice, "unreadable-store", store="s")
    assert html.escape(notice.values["store"]) in text(shelf, "/")


def test_stores_are_named_apart(folder, tmp_path):
    other = Store.create(tmp_path / "results").path
    both = [str(folder / "results"), str(other)]
    assert [one.name for one in open_shelf(both, Index()).stores] == both
    with raises("duplicate-store"):
        open_shelf([both[0], both[0]], Index())
    with raises("not-a-store"):
        open_shelf([str(tmp_path / "nothing")], Index())


def test_a_port_in_use_is_an_error(folder):
    with servers.create_server("127.0.0.1", 0) as taken:
        port = taken.server_address[1]
        done = iosonde("serve", "results", "--port", port, where=folder)
        with raises("port-in-use", port=port, host="127.0.0.1"):
            servers.create_server("127.0.0.1", port)
    assert done.returncode == 2 and f" {port} " in done.stderr and "127.0.0.1" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--host", "no.such.name.invalid"], "is not a name or an address"),
        (["--port", "70000"], "invalid port"),
        (["--host", "203.0.113.1", "--port", "0"], "cannot listen"),
    ],
)
def test_a_place_where_nobody_can_listen(folder, words, said):
    done = iosonde("serve", "results", *words, where=folder)
    assert done.returncode == 2 and said in done.stderr


@pytest.mark.parametrize("given", ["sh0rt", "with a space in it and long"])
def test_a_token_that_is_given_must_be_a_good_one(folder, monkeypatch, given):
    monkeypatch.setenv("IOSONDE_SERVE_TOKEN", given)
    done = iosonde("serve", "results", "--port", "0", where=folder)
    assert done.returncode == 2 and given not in done.stderr


@pytest.mark.parametrize(("words", "secret"), [([], False), (["--token"], True), (["--host", "0.0.0.0"], True)])
def test_the_command_prints_its_address_once_and_ends_well(folder, monkeypatch, words, secret):
    monkeypatch.setattr("iosonde.commands.serve.options.catch_interrupt", lambda: lambda: None)
    done = iosonde("serve", "results", "--port", "0", "--json", *words, where=folder)
    said = json.loads(done.stdout)
    assert done.returncode == 0 and done.stderr == "" and f":{said['port']}/" in said["url"]
    assert bool(re.search(r"\?token=[\w-]{32}$", said["url"])) is secret


WORDS = Address("/runs", {"where": ["nodes=2", " ", " fs=nfs "], "page": ["3"], "empty": [""], "many": ["1", "2"]})


def test_the_words_of_an_address():
    assert (WORDS.parameter("page"), WORDS.parameter("many"), WORDS.parameter("none", "x")) == ("3", "2", "x")
    assert WORDS.parameters("where") == ["nodes=2", "fs=nfs"] and WORDS.parameters("none") == []
    assert len(WORDS.where) == 2
    assert WORDS.but(page=4, empty="a", new=[1, 2]) == (
        "/runs?where=nodes%3D2&where=+&where=+fs%3Dnfs+&page=4&empty=a&many=1&many=2&new=1&new=2"
    )
    assert WORDS.but(where="", page="", many=[]) == "/runs"
    assert build_link("/a", b=None, c="", d=[], e=0, f=["x y", "z"]) == "/a?e=0&f=x+y&f=z"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1", 1),
        ("9", 9),
        ("", 5),
        ("0", None),
        ("10", None),
        ("-1", None),
        ("1.0", None),
        ("\u0663", None),
        ("1" * 40, None),
    ],
)
def test_a_number_in_an_address_has_its_range(text, number):
    address = Address("/", {"n": [text]})
    if number is None:
        with raises("out-of-range", parameter="n", maximum=9):
            address.number("n", 5, 9)
    else:
        assert address.number("n", 5, 9) == number


def test_a_setting_is_described_without_its_repetition():
    assert describe_setting({"nodes": 2, "repetition": 3, "fs": "nfs"}) == "nodes=2, fs=nfs"


@pytest.mark.parametrize(
    ("header", "is_known"),
    [
        (f"127.0.0.1:{PORT}", True),
        ("127.0.0.1", True),
        (f"127.0.0.1:{PORT + 1}", False),
        (f"[::1]:{PORT}", True),
        ("[::1]", True),
        (f"[::1]:{PORT + 1}", False),
        (f" LOCALHOST:{PORT} ", True),
        (f"cluster.example:{PORT}", True),
        (f"other.example:{PORT}", False),
        (f":{PORT}", False),
        (None, False),
    ],
)
def test_a_name_counts_with_its_port(header, is_known):
    assert Doorkeeper("Cluster.example", PORT, None).knows_name(header) == is_known


@pytest.mark.parametrize(
    ("authorization", "cookie", "is_in"),
    [
        (f"Bearer {TOKEN}", None, True),
        (TOKEN, None, False),
        (f"Basic {TOKEN}", None, False),
        (None, f"iosonde-{PORT}={TOKEN}", True),
        ("Bearer x", f"a=b; iosonde-{PORT}={TOKEN}", True),
        (None, f"iosonde-{PORT + 1}={TOKEN}", False),
        (None, f"iosonde-{PORT}=", False),
        (None, None, False),
    ],
)
def test_a_token_is_in_a_header_or_in_the_cookie_of_the_port(authorization, cookie, is_in):
    assert CLOSED.lets_in(authorization, cookie) == is_in and OPEN.lets_in(authorization, cookie)
    assert not OPEN.is_token(TOKEN)


@pytest.mark.parametrize(
    ("host", "is_ours"),
    [("127.0.0.2", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("example", False)],
)
def test_an_address_of_this_machine_alone(host, is_ours):
    assert guards.is_loopback(host) == is_ours


def test_a_slow_page_is_rendered_once_per_state_and_the_oldest_leaves(folder):
    shelf, made = open_shelf([str(folder / "results")], Index()), []

    def get(address: str) -> bytes:
        return shelf.once(address, lambda: made.append(address) or f"{address} {shelf.changes}".encode())

    assert get("a") == get("a") == b"a 0" and made == ["a"]
    shelf.changes += 1
    assert get("a") == b"a 1" and made == ["a", "a"]
    for number in range(15):
        get(str(number))
    assert get("a") == b"a 1" and made.count("a") == 2, "used last, it stays"
    get("15")
    assert get("0") == b"0 1" and made.count("0") == 2


def test_a_store_is_found_by_its_place_and_by_its_number(shelf):
    assert [shelf.at(str(store.place)) for store in shelf.stores] == list(shelf.stores)
    assert [store.place for store in shelf.stores] == [1, 2] and shelf.of(shelf.stores[1].number) is shelf.stores[1]
    for place in ("0", "3", ""):
        with raises("unknown-store", n_stores=2):
            shelf.at(place)
    assert shelf.narrowed("2").counted() != shelf.narrowed("").counted()


def test_levels_that_all_runs_share_are_found(shelf):
    selection = shelf.view.runs(Address("/", {"where": ["nodes=2"]}).where, 0, 9).runs
    common = find_common_levels(selection)
    assert common["nodes"] == 2 and all(
        run.factors[name] == level for run in selection for name, level in common.items()
    )
    varying = {name for run in selection for name in run.factors} - set(common)
    assert all(len({run.factors.get(name) for run in selection}) > 1 for name in varying)
    assert find_common_levels(selection[:1]) == {}


@pytest.mark.parametrize(("kind", "status"), [(InputError, 400), (SystemFaultError, 500)])
def test_a_mistake_in_an_address_and_a_fault_of_the_system_differ(shelf, monkeypatch, kind, status):
    def refuse(*_):
        raise kind("unknown-run", "no run {run}", "look at /runs", run="<b>")

    monkeypatch.setitem(servers.PAGES, "/refused", refuse)
    said = asked(shelf, "/refused")
    assert (
        said.status == status
        and b"no run &lt;b&gt;" in said.body
        and (said.policy, said.keep) == (servers.POLICY, False)
    )
    assert asked(shelf, "/nowhere").status == 404
    assert asked(shelf, "/?" + "&".join(f"a={number}" for number in range(61))).status == 400


def test_a_store_is_looked_at_until_the_end(shelf, monkeypatch):
    ended, looked = threading.Event(), []
    monkeypatch.setattr(type(shelf), "look_at", lambda self, store: (looked.append(store), ended.set()))
    shelf.look_until(shelf.stores[0], ended)
    assert looked == [shelf.stores[0]]
    monkeypatch.setattr(type(shelf), "look_at", lambda *_: pytest.fail("it had ended"))
    shelf.look_until(shelf.stores[0], ended)
