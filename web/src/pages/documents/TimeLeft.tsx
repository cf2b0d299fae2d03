import { useSeesAll } from "../../api/principal";
import { useTexts } from "../../texts";
import { secondsLeft } from "../log/series";
import { useConsumers } from "../log/useConsumers";

/** When what is under way will be done, by what waits for the services and how fast they go. */
export function TimeLeft({ isWorking }: { isWorking: boolean }) {
  const texts = useTexts();
  const isShown = useSeesAll() && isWorking;
  const consumers = useConsumers(isShown);
  const left = isShown ? secondsLeft(consumers.data ?? []) : null;
  return left === null ? null : <span className="hint">{texts.documents.secondsLeft(left)}</span>;
}
