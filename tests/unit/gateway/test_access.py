"""Who may do what, and how often: decisions without a clock, a server or a secret in an error."""

import pytest

from services.gateway.auth.permissions import (
    Permissions,
    matches_any,
    parse_accounts,
    parse_keys,
    required_right,
)
from services.gateway.auth.rate_limits import Cooldown, Lockout, TokenBuckets

SECRET = "k0123456789abcdef"


@pytest.mark.parametrize(
    ("method", "path", "right"),
    [
        ("GET", "/documents/status_counts", "read"),
        ("HEAD", "/anything", "read"),
        ("POST", "/query", "read"),
        ("POST", "/query/data", "read"),
        ("POST", "/documents/paginated", "read"),
        ("POST", "/api/chat", "read"),
        ("POST", "/v1/chat/completions", "read"),
        ("GET", "/graph/label/list", "read"),
        ("POST", "/documents/text", "write"),
        ("POST", "/documents/upload", "write"),
        ("POST", "/documents/clear_cache", "write"),
        ("POST", "/graph/entity/edit", "write"),
        ("DELETE", "/documents/delete_document", "write"),
        ("POST", "/a/route/nobody/has/thought/of", "write"),
        ("DELETE", "/query", "write"),
        ("DELETE", "/documents", "write"),
        ("PATCH", "/documents/paginated", "write"),
    ],
)
def test_everything_that_is_not_known_to_read_needs_the_right_to_write(
    method: str, path: str, right: str
) -> None:
    assert required_right(method, path) == right


@pytest.mark.parametrize(
    ("path", "patterns", "matches"),
    [
        ("/health", ("/health",), True),
        ("/healthy", ("/health",), False),
        ("/health/", ("/health",), False),
        ("/api/chat", ("/api/*",), True),
        ("/api", ("/api/*",), False),
        ("/apis", ("/api/*",), False),
        ("/query", (), False),
    ],
)
def test_a_pattern_is_a_path_or_the_beginning_of_one(
    path: str, patterns: tuple[str, ...], matches: bool
) -> None:
    assert matches_any(path, patterns) == matches


def test_keys_are_bound_to_workspaces_and_to_reading_or_writing() -> None:
    result = parse_keys(f"reader:{SECRET}:a+b:read, ci:{SECRET}x:*, all:{SECRET}y")
    assert result["reader"] == (SECRET, Permissions(frozenset({"a", "b"}), "read"))
    assert result["ci"] == (f"{SECRET}x", Permissions())
    assert result["all"] == (f"{SECRET}y", Permissions())


@pytest.mark.parametrize(
    "text",
    [
        f":{SECRET}",
        f"a:{SECRET}:w:read:more",
        f"a:{SECRET},a:{SECRET}x",
        "a:tooshort",
        f"a:{SECRET}:w:admin",
        f"a:{SECRET}::read",
        "a",
    ],
)
def test_a_key_that_cannot_be_meant_is_refused_without_being_named(text: str) -> None:
    with pytest.raises(ValueError, match=r".") as error:
        parse_keys(text)
    assert SECRET not in str(error.value)
    assert "tooshort" not in str(error.value)


def test_accounts_may_everything_unless_they_are_bound() -> None:
    result = parse_accounts("ada:pass:word, bob:{bcrypt}$2b$x", "bob:w:read")
    assert result == {
        "ada": ("pass:word", Permissions()),
        "bob": ("{bcrypt}$2b$x", Permissions(frozenset({"w"}), "read")),
    }


@pytest.mark.parametrize(
    ("text", "rights"),
    [
        ("ada", ""),
        (":hunter22", ""),
        ("ada:hunter22,ada:x", ""),
        ("ada:hunter22", "bob:w"),
        ("ada:hunter22", "ada"),
        ("ada:hunter22", "ada:w:own"),
    ],
)
def test_an_account_that_cannot_be_meant_is_refused_without_its_password(
    text: str, rights: str
) -> None:
    with pytest.raises(ValueError, match=r".") as error:
        parse_accounts(text, rights)
    assert "hunter22" not in str(error.value)


def test_a_request_without_a_workspace_means_the_usual_one_or_the_only_one_there_is() -> None:
    assert Permissions().resolve_workspace("", "default") == "default"
    assert Permissions(frozenset({"a"})).resolve_workspace("", "default") == "a"
    assert Permissions(frozenset({"a", "b"})).resolve_workspace("", "default") is None
    assert Permissions(frozenset({"a", "default"})).resolve_workspace("", "default") == "default"
    assert Permissions(frozenset({"a"})).resolve_workspace("b", "default") is None
    assert Permissions(frozenset({"a"})).resolve_workspace("A", "default") is None


def test_a_bucket_gives_what_it_holds_and_fills_again_with_time() -> None:
    buckets = TokenBuckets(60)
    assert [buckets.take("a", 0.0) for _ in range(60)] == [0.0] * 60
    assert buckets.take("a", 0.0) == pytest.approx(1.0)
    assert buckets.take("b", 0.0) == 0.0
    assert buckets.take("a", 1.0) == 0.0
    assert buckets.take("a", 1.0) > 0
    assert buckets.take("a", 0.5) > 0, "a clock that goes back gives nothing"
    assert TokenBuckets(0).take("a", 0.0) == 0.0


def test_failures_lock_out_until_the_first_of_them_is_old() -> None:
    lockout = Lockout(2, 10)
    assert [lockout.begin("a", 0.0), lockout.begin("a", 1.0)] == [0.0, 0.0]
    assert lockout.begin("a", 2.0) == pytest.approx(8.0)
    assert lockout.begin("b", 2.0) == 0.0
    assert lockout.begin("a", 10.5) == 0.0
    lockout.succeeded("a")
    assert [lockout.begin("a", 11.0), lockout.begin("a", 11.0)] == [0.0, 0.0]
    assert Lockout(0, 10).begin("a", 0.0) == 0.0


def test_what_is_remembered_is_bounded_and_the_oldest_goes_first() -> None:
    buckets = TokenBuckets(1, max_callers=3)
    lockout = Lockout(1, 100, max_callers=3)
    once = Cooldown(60, max_callers=3)
    for name in "abcd":
        assert buckets.take(name, 0.0) == 0.0
        assert lockout.begin(name, 0.0) == 0.0
        assert once.take(name, 0.0)
    assert buckets.take("d", 0.0) > 0
    assert buckets.take("a", 0.0) == 0.0
    assert lockout.begin("d", 0.0) > 0
    assert lockout.begin("a", 0.0) == 0.0
    assert not once.take("d", 59.0)
    assert once.take("a", 59.0)
