"""Names in Chinese and Japanese text, which has neither capitals nor blanks: marks, endings,
repetition.

Runs of Han characters are cut at punctuation, at characters of grammar and at frequent verbs.
Without a dictionary that finds pieces of sentences as well as names, so only pieces that look like
a name or occur twice are taken from a text.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from offline.language.scripts import HAN, HAN_AND_KANA

_FUNCTION = "的了是在和与或被把从到对于由将也就而等这那之不向至使让给并但若如因她他它我你们个很最更又还只已曾哪吗呢吧啊"
_VERBS = """
创立 成立 创办 建立 位于 发布 发表 发现 发明 开发 收购 担任 出生 毕业 获得 提出 领导 加入 合作 宣布 支持
包括 使用 推出 成为 来自 属于 组成 拥有 撰写 出版 设计 制造 生产 研究 任教 就读 结婚 访问 签署 击败
"""
_FREQUENT = """
通过 进行 作为 称为 因为 为了 没有 具有 什么 哪些 哪个 哪里 怎么
怎样 如何 为什么 多少 一个 一种 一家 一位 一次 以及 其中 目前 同时 因此 可能 可以 需要 主要 所有 许多 这些
那些 他们 我们 你们 首次 第一 开始 之后 之前 谁 年 月 日
"""
_CUT = re.compile(
    f"[{_FUNCTION}]|" + "|".join(sorted((_VERBS + _FREQUENT).split(), key=len, reverse=True))
)
HAN_VERBS = re.compile("|".join(_VERBS.split()))
"""Verbs that name the relation between two names in Chinese."""
HAN_ALIAS = "又称|又名|又叫|也叫|也称|简称|亦称|原名|俗称"
"""Words before another name of the same thing."""
_RUN = re.compile(f"[{HAN}]+")
_KATAKANA = re.compile("[\u30a1-\u30ff]{3,20}")
_QUOTED = re.compile(
    r"《([^《》\n]{1,40})》|“([^“”\n]{2,20})”|「([^「」\n]{2,20})」|『([^『』\n]{2,20})』"
)
_ALIASED = re.compile(
    f'(?:{HAN_ALIAS})(?:为|作|做)?[“"《「]?([{HAN}A-Za-z0-9]{{2,8}})(?=[”"》」]?[）)，。、；,.])'
)
_ANY = re.compile(f"[{HAN_AND_KANA}]")
_CLAUSE = re.compile("[，。！？；,.!?;]")

ENDINGS = {
    "organization": (
        "公司 集团 大学 学院 银行 研究所 研究院 医院 委员会 协会 基金会 政府 法院 出版社 学校 实验室 部队 俱乐部 党 局"
    ),
    "location": "省 市 县 区 州 岛 山 河 江 湖 海 镇 村 路 街 城 国 半岛 海峡 机场",
    "event": "战争 战役 奥运会 革命 运动会 大会 起义 事件",
}
"""The kind of name that an ending marks."""

_ENDINGS = tuple(ending for endings in ENDINGS.values() for ending in endings.split())
_SURNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾"
    "夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤屠习温华司欧诸"
)


@dataclass(frozen=True, slots=True)
class HanName:
    """A name in Chinese or Japanese text: `text` begins at `start`; `work` when 《》 mark it as a
    title.
    """

    text: str
    start: int
    work: bool = False


def runs(text: str) -> list[HanName]:
    """Return every piece of 2 to 8 Han characters between punctuation and grammar, and every
    katakana word.
    """
    return sorted([*_pieces(text), *_katakana(text)], key=lambda name: name.start)


def han_names(text: str) -> list[HanName]:
    """Return the pieces that look like names (ending, surname, two occurrences), and what quotation
    marks enclose.
    """
    if not _ANY.search(text):
        return []
    quoted_names = list(_marked(text))
    starts = {name.start for name in quoted_names}
    pieces = list(_pieces(text))
    counts = Counter(piece.text for piece in pieces)
    likely = [
        piece
        for piece in pieces
        if piece.start not in starts and _likely(piece.text, counts[piece.text])
    ]
    return sorted([*quoted_names, *likely, *_katakana(text)], key=lambda name: name.start)


def _likely(piece: str, count: int) -> bool:
    if count > 1:
        return True
    if len(piece) > 2 and piece.endswith(_ENDINGS):
        return True
    return len(piece) in (2, 3) and piece[0] in _SURNAMES


def _pieces(text: str) -> Iterator[HanName]:
    for run in _RUN.finditer(text):
        start = run.start()
        for cut in (*_CUT.finditer(text, run.start(), run.end()), None):
            end = cut.start() if cut else run.end()
            if 2 <= end - start <= 8:
                yield HanName(text[start:end], start)
            start = cut.end() if cut else end


def _katakana(text: str) -> Iterator[HanName]:
    for word in _KATAKANA.finditer(text):
        yield HanName(word[0], word.start())


def _marked(text: str) -> Iterator[HanName]:
    for quotation in _QUOTED.finditer(text):
        group = quotation.lastindex or 1
        inner = quotation[group].strip()
        if inner and _ANY.search(inner) and (group == 1 or not _CLAUSE.search(inner)):
            yield HanName(
                inner, quotation.start(group) + quotation[group].index(inner), work=group == 1
            )
    for alias in _ALIASED.finditer(text):
        yield HanName(alias[1], alias.start(1))


def ending_type(name: str) -> str | None:
    """Return what kind of name the ending of a Chinese name marks."""
    for kind, endings in ENDINGS.items():
        if len(name) > 2 and name.endswith(tuple(endings.split())):
            return kind
    return "person" if len(name) in (2, 3) and name[0] in _SURNAMES else None
