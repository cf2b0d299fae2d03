import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { data, useApi } from "../../api/client";
import { useTexts } from "../../texts";
import { TextInput } from "../../ui/controls";
import { Failure, Loading } from "../../ui/notices";

/** Every setting of the query service with its source; secrets come hidden from the server. */
export function SettingsTable() {
  const texts = useTexts().operations;
  const api = useApi();
  const [wanted, setWanted] = useState("");
  const [onlySet, setOnlySet] = useState(false);
  const settings = useQuery({
    queryKey: ["", "settings"],
    queryFn: async () => data(await api.GET("/operations/settings")).settings,
  });
  if (settings.isPending) return <Loading />;
  if (settings.error) return <Failure error={settings.error} />;
  const word = wanted.trim().toLowerCase();
  const shown = settings.data.filter(
    ({ names, meaning, source }) => (!onlySet || source !== "default") && `${names.join(" ")} ${meaning}`.toLowerCase().includes(word),
  );
  return (
    <>
      <div className="form-row">
        <TextInput label={texts.findSetting} value={wanted} onChange={setWanted} />
        <button type="button" className="chip" aria-pressed={onlySet} onClick={() => setOnlySet(!onlySet)}>
          {texts.changed}
        </button>
      </div>
      <div className="wide-table" tabIndex={0} role="region" aria-label={texts.tabs.settings}>
        <table className="sheet settings">
          <thead>
            <tr>
              <th scope="col">{texts.setting}</th>
              <th scope="col">{texts.value}</th>
              <th scope="col">{texts.source}</th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ of, names, value, source, meaning }) => (
              <tr key={`${of} ${names.join()}`}>
                <th scope="row">
                  <code>{names.join(", ")}</code>
                  <p className="hint">{meaning.replaceAll("`", "")}</p>
                </th>
                <td>
                  <code>{value}</code>
                </td>
                <td className={source === "default" ? "hint" : ""}>{source}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
