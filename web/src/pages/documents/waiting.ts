import type { Schemas } from "../../api/client";
import type { Texts } from "../../texts/en";
import { lagOf } from "../log/series";
import { progress, STAGES, type Stage } from "./stages";
import type { Document } from "./useDocuments";

/** The service that does a stage. */
const SERVICE: Record<Stage, string> = { chunks: "chunker", extracted: "extractor", merged: "merger", embedded: "indexer", indexed: "indexer" };

/** The stages whose service asks a model. */
const ASKS_MODEL: readonly Stage[] = ["extracted", "embedded"];

export interface Surroundings {
  consumers: readonly Schemas["ConsumerProgress"][];
  providers: readonly Schemas["Provider"][];
  /** Why a budget holds its documents back; "" where none does. */
  exceeded: string;
  /** Since when passages stand in a batch of the model's provider, and how much of it is answered; "" where none does. */
  batch: string;
}

export interface Waiting {
  stage: Stage;
  /** Events of all documents that lie before this stage; 0 where it is not known. */
  ahead: number;
  /** The provider of models that nobody may ask now. */
  paused: Schemas["Provider"] | undefined;
  exceeded: string;
  batch: string;
}

/** What is said of the batch that parked events wait for; "" where none waits for one. */
export function batchIn(parked: readonly Schemas["ParkedEvents"][]): string {
  const sentence = parked.find(({ reason }) => reason === "awaiting-batch")?.error ?? "";
  return sentence.replace(/^AwaitingBatch: /, "");
}

/** The sentences of `runtime/models/batches/queue.py` about a batch, with what they name. */
const UNDER_WAY = /^waits for a batch of (\S+) since (.+) \((\d+) of (\d+) answered\)$/;
const GATHERED = /^waits for a batch of (\S+), gathered since (.+) \((\d+) so far\)$/;
const REFUSED = /^waits for a batch that was refused: (.*)$/s;

/** The sentence about a batch in the words of the page; one that it does not know as it is. */
export function batchText(sentence: string, texts: Texts["documents"]): string {
  const underWay = UNDER_WAY.exec(sentence);
  const gathered = GATHERED.exec(sentence);
  const [, provider = "", since = "", count = "", all = ""] = underWay ?? gathered ?? [];
  if (underWay) return texts.batchUnderWay(provider, since, Number(count), Number(all));
  if (gathered) return texts.batchGathered(provider, since, Number(count));
  const refusal = REFUSED.exec(sentence)?.[1];
  return refusal === undefined ? sentence : texts.batchRefused(refusal);
}

/** What a document that is under way waits for; null where nothing of it is left to do. */
export function waitingFor(document: Document, { consumers, providers, exceeded, batch }: Surroundings): Waiting | null {
  const stage = STAGES.find((one) => {
    const { done, all } = progress(document, one);
    return all === 0 || done < all;
  });
  if (!stage || document.status === "deleting") return null;
  const own = consumers.filter((one) => one.stage === SERVICE[stage]);
  const asksModel = ASKS_MODEL.includes(stage);
  return {
    stage,
    ahead: own.reduce((sum, one) => sum + lagOf(one), 0),
    // Providers are told apart by the names of their models alone.
    paused: asksModel ? providers.find(({ name, paused }) => paused && /embed/i.test(name) === (stage === "embedded")) : undefined,
    exceeded: asksModel ? exceeded : "",
    batch: stage === "extracted" ? batch : "",
  };
}
