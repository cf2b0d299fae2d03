import { useTexts } from "../../texts";
import { Notice } from "../../ui/notices";
import type { OutweighedStatement } from "../ask/stream";

/** What sources of an answer say and others of greater authority contradict. */
export function Outweighed({ statements }: { statements: OutweighedStatement[] }) {
  const texts = useTexts().validity;
  if (statements.length === 0) return null;
  return (
    <Notice kind="warning" title={texts.outweighed}>
      <ul className="warnings">
        {statements.map(({ file_path, statement, authority, contradicted_by: weightier }) => (
          <li key={`${statement}\n${weightier.statement}`}>
            {texts.precedes(weightier.file_path, weightier.authority, weightier.statement)}{" "}
            {texts.contradicted(file_path, authority, statement)}
          </li>
        ))}
      </ul>
    </Notice>
  );
}
