import { expect, test } from "vitest";
import { batchIn, batchText, waitingFor } from "../src/pages/documents/waiting";
import { en } from "../src/texts/en";
import { zh } from "../src/texts/zh";

const document = (metadata: object, status = "processing") => ({ id: "d", status, metadata }) as never;
const consumer = (stage: string, pending: number) => ({ stage, pending, ack_pending: 1 });
const provider = (name: string) => ({ name, paused: true, reason: "429" });
const around = {
  consumers: [consumer("extractor", 9), consumer("indexer", 4), consumer("indexer", 2)],
  providers: [provider("text-embedding-3-small at api.example"), provider("gpt at api.example")],
  exceeded: "",
  batch: "",
} as never;

test("a document waits for the first stage that is not done, behind what lies before that", () => {
  expect(waitingFor(document({}), around)).toMatchObject({ stage: "chunks", ahead: 0, paused: undefined });
  expect(waitingFor(document({ chunks: 2, extracted: 1 }), around)).toMatchObject({ stage: "extracted", ahead: 10, paused: { name: "gpt at api.example" } });
  const embedding = { chunks: 2, extracted: 2, merged: 2 };
  expect(waitingFor(document(embedding), around)).toMatchObject({ stage: "embedded", ahead: 8, paused: { name: "text-embedding-3-small at api.example" } });
  expect(waitingFor(document({ ...embedding, embedded: 2, indexed: 2 }), around)).toBeNull();
  expect(waitingFor(document({}, "deleting"), around)).toBeNull();
});

test("a budget that is spent holds back what asks a model, and nothing else", () => {
  const spent = { consumers: [], providers: [], exceeded: "the budget of 5 is spent", batch: "" };
  expect(waitingFor(document({ chunks: 1 }), spent)?.exceeded).toBe("the budget of 5 is spent");
  expect(waitingFor(document({}), spent)?.exceeded).toBe("");
});

test("what waits to be extracted says since when its batch is under way", () => {
  const error = "AwaitingBatch: waits for a batch of api.example since 2026-11-28 09:14 UTC (3 of 8 answered)";
  const batch = batchIn([{ reason: "awaiting-batch", error }] as never);
  const waiting = { consumers: [], providers: [], exceeded: "", batch };
  expect(waitingFor(document({ chunks: 1 }), waiting)?.batch).toBe("waits for a batch of api.example since 2026-11-28 09:14 UTC (3 of 8 answered)");
  expect(waitingFor(document({ chunks: 1, extracted: 1 }), waiting)?.batch).toBe("");
  expect(batchIn([])).toBe("");
  expect(batchText(batch, zh.documents)).toBe("自 2026-11-28 09:14 UTC 起等待 api.example 的批处理（已答复 3/8）");
  const gathered = "waits for a batch of api.example, gathered since 09:14 UTC (2 so far)";
  expect(batchText(gathered, en.documents)).toBe(gathered);
  expect(batchText(gathered, zh.documents)).toContain("目前 2 个");
  expect(batchText("waits for a batch that was refused: no quota", zh.documents)).toContain("被拒绝：no quota");
  expect(batchText("something else", zh.documents)).toBe("something else");
});
