"""Teach the reader, and write the files of `offline/reading`.

python -m benchmarks.reader.learn --minutes 70 --out FOLDER [--rate 1e-4] [--start FILE ...]
    [--own FOLDER ...] [--public FILE ...] [--languages english]

One document in seven is kept out; how often the right sentence is first for its questions is
printed at the end. What was learned is written every ten minutes as well. `--start`: goes on from
a file of `offline/reading`. `--own`: more folders like `benchmarks/reader/data`, whose documents
may not be ours to give away. `--public`: files in the format of SQuAD 2.0. `--languages`: learns
from the documents in these languages alone, and from what the product would have read of them;
English alone has a base and a file of its own, `english.npz`.
"""

import argparse
import asyncio
import random
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from benchmarks.reader.base import Base
from benchmarks.reader.compared import with_compared
from benchmarks.reader.e5 import e5, kept_pieces
from benchmarks.reader.export import cutter, piece_model, read, weights_file
from benchmarks.reader.groups import Group, LabelledQuestion, own_questions, public_questions
from benchmarks.reader.network import PADDING, Network
from benchmarks.reader.reranker import reranker
from offline.answers.comparison import TAUGHT as TAUGHT_LANGUAGES
from offline.language.languages import ENGLISH
from offline.reading.pieces import Pair, Pieces, pieces_of_english, pieces_of_languages

DATA = Path(__file__).with_name("data")
PUBLIC_DOMAIN = DATA / "public_domain"
GROUPS = 16
"""Questions of a step."""
TOGETHER = 8
"""Pairs that are computed together, of about one length: a tenth of what is computed is padding,
with 32 it was a third.
"""
WIDTH = 8
"""Lengths are rounded up to a multiple of so many pieces: each length has kernels of its own."""
_PROCESSOR = Path("/proc/cpuinfo")
HAS_AMX = _PROCESSOR.exists() and "amx_bf16" in _PROCESSOR.read_text("utf-8")
"""Whether the processor multiplies matrices of bfloat16; a Xeon without it took twice as long with
them as in single precision.
"""
RATE = 1e-4
"""Rate of learning, falling to 0 with the minutes."""
HEAD_FACTOR = 2
"""How many times as fast the head learns."""
WARM_STEPS = 100
LEAST_RATE = 0.02
"""Share of the rates that is left at the end."""
OWN = 0.65
"""Share of questions about documents; the others are of public sets."""
PAIRWISE = 0.5
"""What each pair counts for by itself, beside its place among those of its question."""
TAUGHT = 6
TAUGHT_LATER = 5
TAUGHT_IN_ENGLISH = 8
"""Upper layers that learn: of several languages at first, and once they are told apart; of English,
whose base has twelve.
"""
EVERY = 50
SAVED_EVERY = 10
"""Minutes after which what was learned is written."""
KEPT_OUT = 7
"""One document in so many is kept out, by its name."""
MEAN_FROM = 0.7
MEAN_SHARE = 0.01
"""From which share of the minutes on the weights are averaged, and what each step counts for."""

Questions = list[LabelledQuestion]


def loss(judgements: Any, answers: Sequence[bool]) -> Any:
    """Return how far judgements are from the answers: the answers, or none at all, should have the
    greatest share, where none has the judgement 0; and each should be on its side of 0.
    """
    with_none = torch.cat([judgements, torch.zeros(1)])
    right = [place for place, answer in enumerate(answers) if answer] or [len(answers)]
    shares = torch.logsumexp(with_none, 0) - torch.logsumexp(with_none[right], 0)
    sides = functional.binary_cross_entropy_with_logits(
        judgements, torch.tensor(answers, dtype=torch.float)
    )
    return shares + PAIRWISE * sides


def judgements_of(network: Network, pairs: Sequence[Pair]) -> Any:
    """Return the judgements of pairs, computed among those of about their length."""
    order = sorted(range(len(pairs)), key=lambda place: len(pairs[place].pieces))
    parts = [order[start : start + TOGETHER] for start in range(0, len(order), TOGETHER)]
    with torch.autocast("cpu", torch.bfloat16, enabled=HAS_AMX):
        judgements = [network(_padded([pairs[place] for place in part])) for part in parts]
    return torch.cat(judgements).float()[torch.argsort(torch.tensor(order))]


def _padded(pairs: Sequence[Pair]) -> list[Pair]:
    """Return pairs of which the longest has a length that few have."""
    longest = max(pairs, key=lambda pair: len(pair.pieces))
    padding = [PADDING] * (-len(longest.pieces) % WIDTH)
    padded_pair = Pair([*longest.pieces, *padding], longest.question)
    return [padded_pair if pair is longest else pair for pair in pairs]


def step(network: Network, optimizer: Any, groups: Sequence[Group], pieces: Pieces) -> float:
    """Learn from some groups; return the mean loss."""
    pairs = [pieces.pair(group.question, excerpt) for group in groups for excerpt in group.excerpts]
    judgements = judgements_of(network, pairs)
    total = torch.zeros(())
    start = 0
    for group in groups:
        end = start + len(group.excerpts)
        total = total + loss(judgements[start:end], group.answers)
        start = end
    mean = total / len(groups)
    optimizer.zero_grad()
    mean.backward()
    torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
    optimizer.step()
    return float(mean)


@torch.no_grad()
def first_right(network: Network, questions: Sequence[LabelledQuestion], pieces: Pieces) -> float:
    """Return the share of answerable questions whose first excerpt of twelve answers."""
    network.eval()
    chance = random.Random(5)
    groups = [question.group(chance) for question in questions]
    groups = [group for group in groups if any(group.answers)]
    right = 0
    for group in groups:
        pairs = [pieces.pair(group.question, excerpt) for excerpt in group.excerpts]
        right += group.answers[int(judgements_of(network, pairs).argmax())]
    network.train()
    return right / max(1, len(groups))


@dataclass
class Schedule:
    """Rates that rise for some steps and then fall to nearly nothing with the minutes."""

    optimizer: Any
    minutes: float
    steps: int = 0
    start: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self._rates = [group["lr"] for group in self.optimizer.param_groups]

    @property
    def minute(self) -> float:
        """Return how many minutes have passed."""
        return (time.monotonic() - self.start) / 60

    def advance(self) -> None:
        """Set the rates of the next step."""
        rest = max(LEAST_RATE, 1 - self.minute / self.minutes)
        self.steps += 1
        factor = min(1.0, self.steps / WARM_STEPS) * rest
        for group, rate in zip(self.optimizer.param_groups, self._rates, strict=True):
            group["lr"] = rate * factor


def optimizer_of(network: Network, rate: float) -> Any:
    """Return what changes the layers that learn, and the head faster."""
    layers = [each for each in network.layers.parameters() if each.requires_grad]
    head = [*network.hidden.parameters(), *network.out.parameters()]
    rates = [{"params": layers, "lr": rate}, {"params": head, "lr": HEAD_FACTOR * rate}]
    return torch.optim.AdamW(rates, weight_decay=0.01)


@dataclass(frozen=True)
class Course:
    """What is taught: a network, what cuts texts for it, and where its files are written."""

    base: Base
    piece_numbers: Sequence[int]
    pieces: Pieces
    network: Network
    folder: Path
    file: str

    def write_below(self, subfolder: str) -> None:
        """Write the file of the network into a subfolder, or into the folder itself, and that of
        its pieces where these are a choice.
        """
        folder = self.folder / subfolder
        folder.mkdir(parents=True, exist_ok=True)
        content = weights_file(self.base, self.piece_numbers, self.network)
        (folder / self.file).write_bytes(content)
        if self.base is e5():
            (folder / "pieces.model").write_bytes(piece_model(e5(), self.piece_numbers))


def learn(course: Course, own: Questions, public: Questions, schedule: Schedule) -> None:
    """Learn as long as scheduled, save what was learned now and then, and print how it goes."""
    network = course.network
    chance = random.Random(1)
    mean_network = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(1 - MEAN_SHARE))
    losses: list[float] = []
    next_save = SAVED_EVERY
    network.train()
    while schedule.minute < schedule.minutes:
        schedule.advance()
        sets = [own if chance.random() < OWN or not public else public for _ in range(GROUPS)]
        groups = [chance.choice(questions).group(chance) for questions in sets]
        losses.append(step(network, schedule.optimizer, groups, course.pieces))
        if schedule.minute > MEAN_FROM * schedule.minutes:
            mean_network.update_parameters(network)
        if not schedule.steps % EVERY:
            mean = np.mean(losses[-EVERY:])
            print(f"{schedule.minute:.1f} min, {schedule.steps} steps, loss {mean:.3f}", flush=True)
        if schedule.minute > next_save:
            course.write_below(f"{next_save} minutes")
            next_save += SAVED_EVERY
    if mean_network.n_averaged:
        network.load_state_dict(mean_network.module.state_dict())


def is_kept_out(question: LabelledQuestion) -> bool:
    """Return whether the document of a question is one that nothing is learned from."""
    return zlib.crc32(question.file.encode()) % KEPT_OUT == 0


def english_course(folder: Path) -> Course:
    """Return what is taught of English."""
    piece_numbers = range(len(reranker().tensors["emb.word"]))
    network = Network(reranker(), piece_numbers, TAUGHT_IN_ENGLISH)
    return Course(reranker(), piece_numbers, pieces_of_english(), network, folder, "english.npz")


def course_of_languages(folder: Path, *, is_later: bool) -> Course:
    """Return what is taught of several languages."""
    piece_numbers = kept_pieces(cutter(piece_model(e5(), range(len(e5().pieces)))))
    network = Network(e5(), piece_numbers, TAUGHT_LATER if is_later else TAUGHT)
    return Course(e5(), piece_numbers, pieces_of_languages(), network, folder, "reader.npz")


async def questions_of(folder: Path, languages: Sequence[str]) -> Questions:
    """Return the questions about the documents of a folder, or those in some languages, with what
    the product would have read.
    """
    questions = await own_questions(folder)
    if not languages:
        return questions
    return await with_compared([each for each in questions if each.language in languages], folder)


def main() -> None:
    """Teach it and write its files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=70.0, help="how long it learns")
    parser.add_argument("--rate", type=float, default=RATE, help="how fast it learns at most")
    parser.add_argument("--start", type=Path, nargs="*", default=[], metavar="FILE")
    parser.add_argument("--own", type=Path, nargs="*", default=[], metavar="FOLDER")
    parser.add_argument("--public", type=Path, nargs="*", default=[], metavar="FILE")
    parser.add_argument("--languages", choices=sorted(TAUGHT_LANGUAGES), nargs="*", default=[])
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    options = parser.parse_args()
    torch.manual_seed(1)
    folders = [DATA, PUBLIC_DOMAIN, *options.own]
    languages = options.languages
    own = [each for folder in folders for each in asyncio.run(questions_of(folder, languages))]
    public = [question for file in options.public for question in public_questions(file)]
    if languages == [ENGLISH]:
        course = english_course(options.out)
    else:
        course = course_of_languages(options.out, is_later=bool(languages))
    for file in options.start:
        read(course.network, file)
    questions_kept_out = [question for question in own if is_kept_out(question)]
    own = [question for question in own if not is_kept_out(question)]
    schedule = Schedule(optimizer_of(course.network, options.rate), options.minutes)
    learn(course, own, public, schedule)
    course.write_below("")
    share = first_right(course.network, questions_kept_out, course.pieces)
    print(f"first right of what was kept out: {share:.3f}")


if __name__ == "__main__":
    main()
