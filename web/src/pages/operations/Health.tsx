import { useQuery } from "@tanstack/react-query";
import { CircleCheck, CircleX, Info } from "lucide-react";
import { data, useApi, useWorkspace } from "../../api/client";
import { type Readiness, readiness } from "../../api/readiness";
import { useTexts } from "../../texts";
import { Failure, Loading } from "../../ui/notices";
import { ServerText } from "../../ui/ServerText";
import { Providers } from "./Providers";
import { Services } from "./Services";

const ICONS = { well: CircleCheck, note: Info, fault: CircleX };

interface Finding {
  level: keyof typeof ICONS;
  what: string;
  todo: string;
}

function ofService({ problems, notes }: Readiness, service: string, well: string, names: Record<string, string>): Finding[] {
  const named = (level: Finding["level"], parts: Record<string, string>) =>
    Object.entries(parts).map(([part, text]): Finding => ({ level, what: `${service}: ${names[part] ?? part}`, todo: text }));
  const faults = named("fault", problems);
  return [...faults, ...named("note", notes), ...(faults.length ? [] : [{ level: "well" as const, what: service, todo: well }])];
}

function Findings({ found }: { found: Finding[] }) {
  const texts = useTexts();
  return (
    <ul className="findings">
      {found.map(({ level, what, todo }) => {
        const Icon = ICONS[level];
        return (
          <li key={what} className={level}>
            <Icon size={17} aria-label={texts.operations.levels[level] ?? level} />
            <div>
              <p><ServerText text={what} /></p>
              {todo && <p className="hint"><ServerText text={todo} /></p>}
            </div>
          </li>
        );
      })}
    </ul>
  );
}

interface Configuration {
  role_llm_config?: Record<string, { model: string | null; max_async?: number }>;
  embedding_model?: string;
  rerank_model?: string | null;
}

function Models() {
  const texts = useTexts().operations;
  const api = useApi();
  const health = useQuery({
    queryKey: [useWorkspace(), "health"],
    queryFn: async () => data(await api.GET("/health")),
    staleTime: 60_000,
  });
  if (health.isPending) return <Loading />;
  if (health.error) return <Failure error={health.error} />;
  const configuration = health.data.configuration as Configuration;
  const known: [string, string, string][] = [
    ...Object.entries(configuration.role_llm_config ?? {}).map(([role, { model, max_async }]): [string, string, string] => [
      texts.roles[role] ?? role,
      model ?? texts.offline,
      model && max_async ? texts.atOnce(max_async) : "",
    ]),
    [texts.embedding, configuration.embedding_model ?? "", ""],
    ...(configuration.rerank_model ? ([[texts.rerank, configuration.rerank_model, ""]] as [string, string, string][]) : []),
  ];
  return (
    <section>
      <h2>{texts.models}</h2>
      <dl className="facts">
        {known.map(([role, model, limit]) => (
          <div key={role}>
            <dt>{role}</dt>
            <dd>
              <span>{model}</span> {limit && <span className="hint">{limit}</span>}
            </dd>
          </div>
        ))}
      </dl>
      <p className="hint">Lightstream {health.data.core_version}</p>
    </section>
  );
}

/** Whether anything is wrong, with what to do about it, how far the services are, and which models are in use. */
export function Health() {
  const { operations: texts, states } = useTexts();
  const api = useApi();
  const doctor = useQuery({
    queryKey: ["", "doctor"],
    queryFn: async () => data(await api.GET("/operations/doctor")),
    refetchInterval: 15_000,
  });
  const ready = useQuery({ queryKey: ["", "ready"], queryFn: readiness, refetchInterval: 15_000 });
  if (doctor.isPending || ready.isPending) return <Loading />;
  const service = ready.data ? ofService(ready.data, texts.service, texts.serviceReady, states.parts) : [];
  const isWell = doctor.data?.healthy === true && !service.some(({ level }) => level === "fault");
  const error = doctor.error ?? ready.error;
  return (
    <>
      <section>
        {doctor.data && (
          <h2 className={isWell ? "verdict well" : "verdict fault"}>
            {isWell ? <CircleCheck size={20} aria-hidden /> : <CircleX size={20} aria-hidden />}
            {isWell ? texts.healthy : texts.unhealthy}
          </h2>
        )}
        {error && <Failure error={error} />}
        <Findings found={[...(doctor.data?.findings ?? []), ...service]} />
      </section>
      <Services />
      <Models />
      <Providers />
    </>
  );
}
