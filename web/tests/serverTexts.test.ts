import { expect, test } from "vitest";
import { inLanguage, withNotes } from "../src/texts/server";

test("sentences of events are told in Chinese with what they name", () => {
  expect(inLanguage("chunk 3: 2 entities, 1 relations (m, cached)", "zh")).toBe("片段 3：2 个实体，1 个关系（m）");
  expect(inLanguage("ferry.md, 1,204 bytes", "zh")).toBe("ferry.md，1,204 字节");
  expect(inLanguage("chunks: 4 chunks, 4 texts embedded (minilm)", "zh")).toBe("4 个片段，嵌入了 4 段文本（minilm）");
});

test("the reason of a chosen mode is told in Chinese", () => {
  expect(inLanguage("The question names entities of the graph: Ada, Bolt.", "zh")).toBe("问题提到了图谱中的实体：Ada, Bolt。");
  expect(inLanguage("The question names no entity of the graph: what walk and mix find is put together.", "zh")).toBe(
    "问题没有提到图谱中的实体：合并了 walk 与 mix 的结果。",
  );
});

test("a sentence that has no other language is known to be English, and no language of the page is", () => {
  expect(inLanguage("the disk is full", "zh")).toBeUndefined();
  expect(inLanguage("the disk is full", "en")).toBe("the disk is full");
  expect(inLanguage("灯塔 1898", "zh")).toBe("灯塔 1898");
});

test("notes of an answer are translated, and what documents say stays", () => {
  const answer = "Ada leads.\n\n(No language model is configured: these sentences are quoted from the documents as they stand.)";
  expect(withNotes(answer, "zh")).toBe("Ada leads.\n\n（未设置语言模型：这些句子原样引自文档。）");
  expect(withNotes(answer, "en")).toBe(answer);
});
