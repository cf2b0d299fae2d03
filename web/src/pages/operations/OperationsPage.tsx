import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { useSearchParams } from "react-router";
import { useSeesAll } from "../../api/principal";
import { useTexts } from "../../texts";
import { Notice } from "../../ui/notices";
import { GoldenQuestions } from "../golden/GoldenQuestions";
import { Branches } from "./Branches";
import { Costs } from "./Costs";
import { Health } from "./Health";
import { Models } from "./Models";
import { Projections } from "./Projections";
import { SettingsTable } from "./SettingsTable";
import { Sources } from "./Sources";
import { Webhooks } from "./Webhooks";

const TABS = { health: Health, projections: Projections, costs: Costs, models: Models, golden: GoldenQuestions, branches: Branches, sources: Sources, webhooks: Webhooks, settings: SettingsTable };
type TabName = keyof typeof TABS;

/** What concerns the whole deployment is for those alone whose credentials are for all of it. */
const OF_ONE_WORKSPACE: TabName[] = ["costs", "golden", "branches", "sources", "webhooks"];

/** What an operator sees and does. */
export default function OperationsPage() {
  const texts = useTexts();
  const seesAll = useSeesAll();
  const [params, setParams] = useSearchParams();
  const shown = (Object.keys(TABS) as TabName[]).filter((name) => seesAll || OF_ONE_WORKSPACE.includes(name));
  const chosen = shown.find((name) => name === params.get("tab")) ?? shown[0] ?? "costs";
  return (
    <div className="page operations">
      <header className="title">
        <h1>{texts.operations.title}</h1>
      </header>
      {!seesAll && <Notice>{texts.operations.notWhole}</Notice>}
      <Tabs className="tabs" selectedKey={chosen} onSelectionChange={(tab) => setParams({ tab: String(tab) })}>
        <TabList aria-label={texts.operations.title} className="tab-list">
          {shown.map((name) => (
            <Tab key={name} id={name}>
              {texts.operations.tabs[name]}
            </Tab>
          ))}
        </TabList>
        {shown.map((name) => {
          const Panel = TABS[name];
          return (
            <TabPanel key={name} id={name} className="panel-of-tab">
              <Panel />
            </TabPanel>
          );
        })}
      </Tabs>
    </div>
  );
}
