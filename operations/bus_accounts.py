"""Who may do what on the bus: one user for each service, who reaches what it needs and nothing
else.

`python -m operations.bus_accounts` prints this as nats-server reads it; `deploy/nats/users.conf` is
that text, and `make schemas` writes it anew. Each call of JetStream is a message too, so subjects
decide everything.

The log stands in one account. Every other user has an account of its own, which imports single
subjects of it: a list of subjects that a user may publish to would not be enough, for it may name
any subject for the answer to a message, and the server writes there whatever the list says. An
answer never leaves the account that it is for.
"""

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from contracts import subjects
from contracts.partitions import LOG, MAX_PARTITIONS, server_mapping
from contracts.registry import PRODUCERS, SERVICES, Producer, Service, service_of
from contracts.topology import (
    CHECKPOINTS_BUCKET,
    CONSUMERS,
    PARKED_STREAM,
    TURNS_BUCKET,
    Consumer,
)
from operations.bus_grants import (
    API,
    CHECKS_STREAMS,
    FOLLOWS_LOG,
    OPERATES,
    READS_BLOBS,
    READS_BRANCHES,
    READS_BUDGET,
    READS_CHECKPOINTS,
    READS_GENERATIONS,
    READS_LIMITS,
    READS_LOG,
    READS_NEWEST_VERSION,
    READS_PARKED,
    SHARES_BATCHES,
    SHARES_LIMITS,
    SHARES_WEBHOOKS,
    WRITES_BLOBS,
    WRITES_OLDER_BLOBS,
    Grant,
)
from operations.bus_partitions import CARRIES, follows_moves, in_partitions

ACCOUNT = "lightstream"
"""The account of the bus in which the streams are."""

IMPORTED_API = "KB.API"
"""The same prefix for a user of another account, in which `$JS.API` is that account's own:
NATS_API_PREFIX.
"""


@dataclass(frozen=True)
class User:
    """A user of the bus. `grants`: None for one that may do everything."""

    name: str
    why: str
    grants: tuple[Grant, ...] | None = None

    @property
    def password_variable(self) -> str:
        """Return the environment variable of the server that holds its password."""
        return f"NATS_{self.name.upper()}_PASSWORD"

    @property
    def allowed(self) -> tuple[str, ...]:
        """Return the subjects it may publish to, each once, as the log's account has them."""
        return tuple(
            dict.fromkeys(subject for grant in self.grants or () for subject in grant.allowed)
        )

    @property
    def denied(self) -> tuple[str, ...]:
        """Return the subjects it may not publish to although a wildcard allows them, each once."""
        return tuple(
            dict.fromkeys(subject for grant in self.grants or () for subject in grant.denied)
        )


def imported(subject: str) -> str:
    """Return the subject as users of other accounts know it."""
    return IMPORTED_API + subject.removeprefix(API) if subject.startswith(f"{API}.") else subject


def _notes(*keys: str) -> Grant:
    return Grant(
        "how far what it fills has come", tuple(f"$KV.{CHECKPOINTS_BUCKET}.{key}" for key in keys)
    )


FURTHER: Mapping[Service, tuple[Grant, ...]] = {
    "chunker": (READS_BLOBS, READS_NEWEST_VERSION, SHARES_LIMITS, READS_BUDGET),
    "extractor": (
        SHARES_LIMITS,
        SHARES_BATCHES,
        READS_NEWEST_VERSION,
        READS_BUDGET,
        READS_BRANCHES,
    ),
    "merger": (SHARES_LIMITS, _notes("note.graph.*")),
    "indexer": (SHARES_LIMITS, READS_NEWEST_VERSION, _notes("note.vectors.*")),
    "query": (
        SHARES_LIMITS,
        READS_BLOBS,
        WRITES_BLOBS,
        READS_LOG,
        _notes("note.status.*", "log", "chain"),
        *OPERATES,
    ),
}
"""What a service needs beside its own events and durables."""


def _says(producer: Producer, *names: str) -> Grant:
    event_names = names or tuple(
        name for name, producers in PRODUCERS.items() if producer in producers
    )
    return Grant("its events", tuple(subjects.of_type(name) for name in event_names))


def _takes(durable: Consumer) -> tuple[Grant, ...]:
    """Return what a service needs to consume a durable and to look ahead in its stream."""
    stream = durable.stream
    name = durable.name
    readable = dict.fromkeys((*durable.filters, subjects.of_type("StageFailed")))
    foreign_durables = tuple(
        consumer for consumer in CONSUMERS if service_of(consumer) != service_of(durable)
    )
    return (
        Grant(
            f"durable {name}",
            (f"{API}.CONSUMER.INFO.{stream}.{name}", f"$JS.ACK.{stream}.{name}.>", f"dead.{name}"),
        ),
        Grant(
            (
                "its parked events: records without text, of which it can write its own and read "
                "any by its place"
            ),
            (subjects.parked(name), f"{API}.STREAM.MSG.GET.{PARKED_STREAM}"),
        ),
        Grant(
            (
                "readers of its own, of the subjects it consumes and of failures; durables are "
                "nobody's to change"
            ),
            (
                *(
                    f"{API}.CONSUMER.CREATE.{stream}.*.{filter_subject}"
                    for filter_subject in readable
                ),
                f"{API}.CONSUMER.MSG.NEXT.{stream}.*",
                f"$KV.{TURNS_BUCKET}.{name}.*",
            ),
            (
                *(
                    f"{API}.CONSUMER.CREATE.{consumer.stream}.{consumer.name}.>"
                    for consumer in CONSUMERS
                ),
                *(
                    f"{API}.CONSUMER.MSG.NEXT.{foreign_durable.stream}.{foreign_durable.name}"
                    for foreign_durable in foreign_durables
                ),
            ),
        ),
    )


def _discovery(name: str) -> Grant:
    return Grant(
        "what it found of the log, and whether that takes anything",
        (f"$KV.{CHECKPOINTS_BUCKET}.verdict.{name}", subjects.PROBE),
    )


OF_ITS_WORK = ("StageFailed", "QuestionsCharged", "AnswerGiven")
"""Events that the query service says of its own work; the others it says for callers over HTTP."""


def _service(name: Service) -> User:
    durables = (
        grant for durable in CONSUMERS if service_of(durable) == name for grant in _takes(durable)
    )
    shared_grants = (CHECKS_STREAMS, READS_GENERATIONS, READS_CHECKPOINTS)
    grants = (_says(name), *durables, *shared_grants, _discovery(name), *FURTHER[name])
    return User(name, f"the {name} service" if name == "query" else f"the {name}", grants)


USERS = (
    User(
        "operator",
        (
            "declares streams, switches generations, reads the log: the topology job and the "
            "command line"
        ),
    ),
    *(_service(name) for name in SERVICES),
    User(
        "webhooks",
        "the sender of webhooks, where it is a process of its own: reads events, publishes none",
        (
            CHECKS_STREAMS,
            READS_GENERATIONS,
            READS_CHECKPOINTS,
            _discovery("webhooks"),
            SHARES_WEBHOOKS,
            READS_LOG,
            FOLLOWS_LOG,
            Grant(
                "how far the status of documents is",
                (f"{API}.CONSUMER.INFO.{LOG}.query-status",),
            ),
        ),
    ),
    User(
        "gateway",
        "the HTTP API, where it is a process of its own: says what is asked for over HTTP",
        (
            _says(
                "query",
                *(
                    name
                    for name, producers in PRODUCERS.items()
                    if "query" in producers and name not in OF_ITS_WORK
                ),
            ),
            CHECKS_STREAMS,
            READS_GENERATIONS,
            READS_CHECKPOINTS,
            _discovery("gateway"),
            READS_LIMITS,
            READS_BLOBS,
            WRITES_BLOBS,
            READS_LOG,
            READS_PARKED,
            FOLLOWS_LOG,
            *OPERATES,
        ),
    ),
    User(
        "publisher",
        "other systems: adds and deletes documents, reads nothing",
        (
            _says("publisher", "DocumentAdded", "DocumentDeleted", "AccessChanged"),
            WRITES_OLDER_BLOBS,
        ),
    ),
)
"""Every user of the bus."""


def publisher_of(name: str, workspaces: Iterable[str], *, only_intake: bool = False) -> User:
    """Return a further user for one other system: it adds and deletes documents of these
    workspaces, and reads nothing. With `only_intake` it hands in files of them and does nothing
    else.

    Raises ValueError for a name that is taken, or that is not of lower-case letters, digits and
    `_`.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or name in {
        ACCOUNT,
        *(user.name for user in USERS),
    }:
        raise ValueError(f"{name!r} cannot be the name of a publisher")
    own_workspaces = tuple(workspaces)
    files = Grant("files that it hands in", tuple(map(subjects.intake, own_workspaces)))
    if only_intake:
        return User(name, "another system, which hands in files of its own workspaces", (files,))
    says = (
        subjects.of_type_in(of, event)
        for of in own_workspaces
        for event in ("DocumentAdded", "DocumentDeleted")
    )
    blobs = (subjects.blob(subjects.blob_place(of, "*"), "*") for of in own_workspaces)
    grants = (Grant("its events", tuple(says)), Grant("its long texts", tuple(blobs)), files)
    return User(name, "another system, of its own workspaces", grants)


def configuration(publishers: Iterable[User] = (), partitions: int = 1) -> str:
    """Return the accounts and users as a file that nats-server includes, for a log of so many
    partitions. Passwords come from its environment.
    """
    users = [of_partitions(user, partitions) for user in (*USERS, *publishers)]
    return "\n".join(_lines(tuple(users), partitions)) + "\n"


def of_partitions(user: User, count: int) -> User:
    """Return the user who may do in every partition of a log what this one may do in one."""
    grants = user.grants and tuple(in_partitions(grant, count) for grant in user.grants)
    if grants and user.grants and count > 1 and CHECKS_STREAMS in user.grants:
        grants = (*grants, follows_moves(user.allowed))
    if grants and count > 1 and user.name in ("query", "gateway"):
        grants = (*grants, in_partitions(CARRIES, count))
    return replace(user, grants=grants)


def _lines(users: tuple[User, ...], partitions: int) -> Iterator[str]:
    yield (
        "# Made by `make schemas` from operations/bus_accounts.py, which says why it is so: change "
        "that, not this."
    )
    yield ""
    yield "accounts {"
    yield f"  {ACCOUNT} {{"
    yield "    jetstream: enabled"
    if partitions > 1:
        source, target = server_mapping(partitions)
        yield f'    mappings {{ "{source}": "{target}" }}'
    yield "    users: ["
    for user in users:
        if user.grants is None:
            yield f"      # {user.why}"
            yield f"      {{ user: {user.name}, password: ${user.password_variable} }}"
    yield "    ]"
    yield "    exports: ["
    for subject, accounts in _exports(users).items():
        # One request, many answers.
        answers = ", response_type: stream" if f"{API}.CONSUMER.MSG.NEXT." in subject else ""
        yield f'      {{ service: "{subject}"{answers}, accounts: [{", ".join(accounts)}] }}'
    yield "    ]"
    yield "  }"
    for user in users:
        if user.grants is not None:
            yield from _account(user, user.grants)
    yield "}"


def _exports(users: tuple[User, ...]) -> dict[str, list[str]]:
    """Return the accounts that may import each subject."""
    users_of: dict[str, list[str]] = {}
    for user in users:
        for subject in user.allowed:
            users_of.setdefault(subject, []).append(user.name)
    return users_of


def _account(user: User, grants: tuple[Grant, ...]) -> Iterator[str]:
    exported_subjects: set[str] = set()
    yield ""
    yield f"  # {user.why}"
    yield f"  {user.name} {{"
    yield "    users: [{"
    yield f"      user: {user.name}, password: ${user.password_variable}"
    if user.denied:
        yield "      permissions: { publish: { deny: ["
        yield from (f'        "{imported(subject)}"' for subject in user.denied)
        yield "      ] } }"
    yield "    }]"
    yield "    imports: ["
    for grant in grants:
        yield f"      # {grant.why}"
        for subject in grant.allowed:
            if subject not in exported_subjects:
                target = f', to: "{imported(subject)}"' if imported(subject) != subject else ""
                yield f'      {{ service: {{ account: {ACCOUNT}, subject: "{subject}" }}{target} }}'
            exported_subjects.add(subject)
    yield "    ]"
    yield "  }"


def main(arguments: Sequence[str] | None = None) -> str:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m operations.bus_accounts")
    parser.add_argument(
        "--partitions", type=int, default=1, choices=range(1, MAX_PARTITIONS + 1), metavar="N"
    )
    parser.add_argument(
        "publishers",
        nargs="*",
        metavar="NAME=WORKSPACE,…",
        help="further publishers, of these workspaces; NAME=in:WORKSPACE may hand in files alone",
    )
    options = parser.parse_args(arguments)
    parts = (argument.partition("=") for argument in options.publishers)
    further_publishers = [
        publisher_of(name, of.removeprefix("in:").split(","), only_intake=of.startswith("in:"))
        for name, _, of in parts
    ]
    return configuration(further_publishers, options.partitions)


if __name__ == "__main__":
    sys.stdout.write(main())
