"""Tells the text of a model's answer from the reasoning that the model wrote into it.

Reasoning stands between tags (`<think>`, `[THINK]`, `◁think▷` and others), of which either may be
missing, or in a channel of its own. A tag that the answer speaks of stays: one in code, in
quotation marks or within a sentence.
"""

import re
from typing import NamedTuple

from runtime.text.reasoning_marks import (
    BEGINNING,
    LONGEST_MARK,
    LONGEST_PHRASE,
    LOOK_AHEAD,
    MARK,
    MAYBE_BEGINNING,
    PARTIAL,
    ROW_DELIMITER,
    SENTENCE,
    SPOKEN_OF,
    is_quoted,
    reads_as_thought,
    text_behind,
)

LONGEST_HEADER = 200
"""Characters of what stands between the marks of a channel at most."""

_LINE_TAIL = 200
_FINAL = ("final", "")
"""Channels with the text of an answer; no name is that of an answer without channels."""


class AnswerParts(NamedTuple):
    """A part of an answer, and apart from it a part of the reasoning; either may be empty."""

    text: str
    reasoning: str
    lacks_opening: bool = False
    """Whether reasoning ends here that had no opening mark: text that was returned before it was
    reasoning, too.
    """


def split_reasoning(answer: str, *, truncated: bool = False) -> AnswerParts:
    """Return the text of a whole answer without its reasoning, and the reasoning. `truncated`: the
    answer was cut.
    """
    parts = ReasoningFilter(holds_text=True)
    before = parts.feed(answer)
    end = parts.end(truncated=truncated)
    lacks_opening = before.lacks_opening or end.lacks_opening
    return AnswerParts(before.text + end.text, before.reasoning + end.reasoning, lacks_opening)


class ReasoningFilter:
    """Splits an answer that comes in pieces; the parts join to the same however it is cut into
    pieces.

    `holds_text`: return no text before it is certain that all before it was no reasoning whose
    first tag is missing. Without it, such reasoning goes out as text, and a later part says so.
    """

    def __init__(self, *, holds_text: bool = False) -> None:
        self._holds_text = holds_text
        self._buffer = ""
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._lacks_opening = False
        self._mode = "beginning"
        """`beginning`; `text`; `tag` and `channel`, both reasoning; and what waits for its end to
        be understood: `phrase` (a beginning of `BEGINNING`), `pending` (behind a tag within a
        sentence), `header` (of a channel).
        """
        self._pending: list[str] = []
        """What follows a mark whose meaning is not known yet; the mark is its first part."""
        self._pending_length = 0
        self._has_text = self._has_reasoning = self._may_nest = False
        """Whether there was text, and reasoning; and whether the last block of reasoning began the
        answer, so that a closing tag that is left over ends a block around it.
        """
        self._line = ""
        """The end of the current line of the text."""
        self._fence = ""
        self._span = 0
        """The marks that opened the current block of code, and the backticks that opened code
        within a line.
        """
        self._depth = 0
        self._thought_tail = ""
        self._after_inner: list[str] | None = None
        """What followed the end of a nested block: text, if the outer one does not end."""
        self._trims = self._unwraps = False
        """Whether blanks that follow are dropped, and whether a tag around the answer is."""

    def feed(self, piece: str) -> AnswerParts:
        """Take the next piece and return the parts that are certain so far."""
        self._read(self._buffer + piece, is_last=False)
        return self._taken()

    def note_reasoning(self) -> None:
        """Note that the provider gives the reasoning apart, so that no text can be reasoning
        without a first tag.
        """
        self._has_reasoning = True
        self._holds_text = False

    def end(self, *, truncated: bool = False) -> AnswerParts:
        """Return the parts that were held back; nothing may be fed afterwards. `truncated`: the
        answer was cut.
        """
        self._read(self._buffer, is_last=True)
        if self._mode == "phrase":
            self._resolve(is_reasoning=truncated)
        elif self._mode == "pending":
            content = "".join(self._pending[1:])
            self._resolve(is_reasoning=truncated and ROW_DELIMITER not in content)
        elif self._mode == "header":
            self._resolve(is_reasoning=False)
        if self._after_inner is not None:
            self._mode = "text"
            inner, self._after_inner = "".join(self._after_inner), None
            self._add(inner)
        self._holds_text = False
        return self._taken()

    def _taken(self) -> AnswerParts:
        text = ""
        if not self._holds_text:
            text = "".join(self._text)
            self._text = []
        reasoning = "".join(self._reasoning)
        self._reasoning = []
        lacks_opening, self._lacks_opening = self._lacks_opening, False
        return AnswerParts(text, reasoning, lacks_opening)

    def _read(self, text: str, *, is_last: bool) -> None:
        at = 0
        if self._mode == "beginning":
            if not is_last and MAYBE_BEGINNING.match(text) and len(text) <= LONGEST_MARK:
                self._buffer = text
                return
            beginning = BEGINNING.match(text)
            self._mode = "text"
            if beginning:
                self._wait(beginning[0], "phrase")
                at = beginning.end()
        while at < len(text):
            match = MARK.search(text, at)
            until = match.start() if match else self._certain_end(text, at, is_last)
            self._add(text[at:until])
            at = until
            end = self._on_mark(match, text, is_last) if match else None
            if end is None:
                break
            at = end
        self._buffer = text[at:]

    def _certain_end(self, text: str, at: int, is_last: bool) -> int:
        if is_last:
            return len(text)
        if self._mode == "phrase":
            return max(at, len(text) - LONGEST_PHRASE)
        partial = PARTIAL.search(text, max(at, len(text) - LONGEST_MARK))
        return partial.start() if partial else len(text)

    def _on_mark(self, match: re.Match[str], text: str, is_last: bool) -> int | None:
        """Take a mark, and return where the text goes on behind it; None if more of it is
        needed.
        """
        if not is_last and self._needs_more(match, text):
            return None
        handle = {
            "text": self._in_text,
            "tag": self._in_tag,
            "phrase": self._in_phrase,
            "channel": self._in_channel,
            "pending": self._in_pending,
            "header": self._in_header,
        }[self._mode]
        handle(match, text)
        return match.end()

    def _needs_more(self, match: re.Match[str], text: str) -> bool:
        """Return whether what stands behind the mark decides what it means, and has not come
        yet.
        """
        if match.lastgroup in ("open", "close"):
            behind = text_behind(match, text)
            return len(behind) < LOOK_AHEAD and not behind.strip()
        return match.end() == len(text) and match.lastgroup in ("code", "phrase")

    def _in_text(self, match: re.Match[str], text: str) -> None:
        kind = match.lastgroup
        raw = match[0]
        if kind == "code":
            self._toggle_code(raw)
        if kind in ("newline", "code") or self._fence or self._span:
            self._add(raw)
        elif kind == "open":
            self._on_open(raw, text_behind(match, text))
        elif kind == "close":
            self._on_close(raw, text_behind(match, text))
        elif kind == "channel":
            self._on_channel(raw)
        elif kind == "wrapper" and self._is_wrapper(raw):
            self._trims = True
        else:
            self._add(raw)

    def _on_open(self, raw: str, behind: str) -> None:
        opens = not self._has_text
        if not opens and SPOKEN_OF.match(behind):
            self._add(raw)
        elif opens or not self._line.strip():
            self._begin("tag")
        else:
            self._wait(raw, "pending")

    def _begin(self, mode: str) -> None:
        """Go on in this mode, now that a mark has told reasoning from text."""
        self._mode = mode
        self._depth = 1
        self._thought_tail = ""
        self._may_nest = not self._has_text
        self._has_reasoning = True
        self._holds_text = False

    def _on_close(self, raw: str, behind: str) -> None:
        """Take a closing tag without an opening one: all before it was reasoning, unless the tag is
        spoken of.
        """
        if not self._ends_reasoning(behind):
            self._add(raw)
        elif self._has_reasoning and not (self._may_nest and behind.strip()):
            self._trims = True
        else:
            self._end_unopened()

    def _end_unopened(self) -> None:
        self._lacks_opening = self._has_text
        self._reasoning += self._text
        self._text = []
        self._has_text = False
        self._line = ""
        self._begin("text")
        self._trims = self._unwraps = True

    def _ends_reasoning(self, behind: str) -> bool:
        before = self._line.rstrip(" \t")
        if not before or SENTENCE.match(before[-1]):
            return True
        in_row = ROW_DELIMITER in self._line
        if behind[:1] == "\n":
            return not in_row
        if not behind or SPOKEN_OF.match(behind):
            return False
        if before == self._line:
            return before[-1] not in "\"'“‘«(`>"
        begins_sentence = not behind.lstrip(" \t")[:1].islower()
        return begins_sentence and not in_row

    def _on_channel(self, raw: str) -> None:
        if raw.lower() in ("<|start|>", "<|channel|>"):
            self._wait(raw, "header")
        elif raw.lower() == "<|constrain|>" or not self._has_reasoning:
            self._add(raw)

    def _wait(self, raw: str, mode: str) -> None:
        self._mode = mode
        self._pending = [raw]
        self._pending_length = 0

    def _in_tag(self, match: re.Match[str], text: str) -> None:
        if (
            match.lastgroup == "open"
            and self._thought_tail.strip()
            and self._thought_tail.endswith("\n")
        ):
            self._depth += 1
        if match.lastgroup != "close" or is_quoted(match, self._thought_tail, text):
            self._add(match[0])
            return
        self._depth -= 1
        if self._depth:
            self._after_inner = []
        else:
            self._leave()

    def _in_phrase(self, match: re.Match[str], text: str) -> None:
        if match.lastgroup == "phrase":
            self._resolve(is_reasoning=True)
        else:
            self._pending.append(match[0])

    def _leave(self) -> None:
        if self._after_inner is not None:
            self._reasoning += self._after_inner
            self._after_inner = None
        self._mode = "text"
        self._unwraps = not self._has_text
        self._trims = not self._line or self._line[-1].isspace()

    def _in_channel(self, match: re.Match[str], text: str) -> None:
        if match.lastgroup != "channel":
            self._add(match[0])
        elif match[0].lower() in ("<|start|>", "<|channel|>"):
            self._wait(match[0], "header")
        else:
            self._leave()

    def _in_header(self, match: re.Match[str], text: str) -> None:
        if match.lastgroup != "channel":
            self._add(match[0])
            self._resolve(is_reasoning=False)
        elif match[0].lower() != "<|message|>":
            self._pending.append(match[0])
        else:
            self._enter_channel("".join(self._pending))

    def _enter_channel(self, header: str) -> None:
        name = header.rpartition("<|channel|>")[2] if "<|channel|>" in header else ""
        name = name.split("<|")[0].split()[0].lower() if name.split("<|")[0].split() else ""
        self._pending = []
        if name not in _FINAL:
            self._begin("channel")
            return
        if self._has_text and not self._has_reasoning:
            self._end_unopened()
        self._begin("text")
        self._trims = True

    def _in_pending(self, match: re.Match[str], text: str) -> None:
        if match.lastgroup != "close" or is_quoted(match, self._pending[-1], text):
            self._pending.append(match[0])
            return
        content = "".join(self._pending[1:])
        is_reasoning = reads_as_thought(content)
        if not is_reasoning:
            self._pending.append(match[0])
        self._resolve(is_reasoning=is_reasoning)

    def _resolve(self, *, is_reasoning: bool) -> None:
        """Take what waited: as reasoning without its mark, or as text with it."""
        opening, *content = self._pending
        self._pending = []
        if is_reasoning:
            self._begin("tag")
            self._reasoning += content
            self._leave()
            return
        self._mode = "text"
        self._add(opening + "".join(content))

    def _is_wrapper(self, raw: str) -> bool:
        """Return whether this is a tag around the whole answer, as it stands behind reasoning."""
        if raw.startswith("<|"):
            return self._has_reasoning
        if raw.startswith("</"):
            return self._unwraps
        return self._unwraps and not self._has_text

    def _toggle_code(self, raw: str) -> None:
        if len(raw) >= 3 and not self._line.strip():
            if not self._fence:
                self._fence = raw
            elif raw[0] == self._fence[0] and len(raw) >= len(self._fence):
                self._fence = ""
        elif raw[0] == "`" and not self._fence:
            self._span = 0 if self._span == len(raw) else self._span or len(raw)

    def _add(self, part: str) -> None:
        """Take a part that holds no mark, or one that is spoken of."""
        if not part:
            return
        if self._mode in ("tag", "channel"):
            self._thought_tail = (self._thought_tail + part)[-_LINE_TAIL:]
            (self._reasoning if self._after_inner is None else self._after_inner).append(part)
        elif self._mode in ("phrase", "pending", "header"):
            self._pending.append(part)
            self._pending_length += len(part)
            if self._mode == "header" and self._pending_length > LONGEST_HEADER:
                self._resolve(is_reasoning=False)
        else:
            self._add_text(part)

    def _add_text(self, part: str) -> None:
        if self._trims:
            part = part.lstrip()
            if not part:
                return
            self._trims = False
        self._text.append(part)
        self._has_text = self._has_text or not part.isspace()
        if "\n" in part:
            self._line = ""
            self._span = 0
        line = part[part.rfind("\n") + 1 :]
        self._line = (self._line + line)[-_LINE_TAIL:]
