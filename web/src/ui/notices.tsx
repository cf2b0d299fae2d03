import { AlertTriangle, CircleX, Info, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { useTexts } from "../texts";
import { Button } from "./controls";
import { ServerText } from "./ServerText";

type NoticeProps = { kind?: "info" | "warning" | "error"; title?: string; children?: ReactNode };

const ICONS: Record<string, LucideIcon> = { info: Info, warning: AlertTriangle, error: CircleX };

export function Notice({ kind = "info", title, children }: NoticeProps) {
  const Icon = ICONS[kind] ?? Info;
  return (
    <div className={`notice ${kind}`} role={kind === "error" ? "alert" : "status"}>
      <Icon size={16} aria-hidden />
      <div>
        {title && <strong>{title}</strong>}
        {children}
      </div>
    </div>
  );
}

/** What went wrong, in the server's words, and the way to try again. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const texts = useTexts();
  return (
    <Notice kind="error">
      {/* A TypeError is what browsers make of a server that does not answer, each in words of its own. */}
      <span>{error instanceof TypeError ? texts.signIn.unreachable : <ServerText text={error instanceof Error ? error.message : String(error)} />}</span>
      {retry && (
        <Button look="quiet" onPress={retry}>
          {texts.common.retry}
        </Button>
      )}
    </Notice>
  );
}

export function Empty({
  icon: Icon,
  title,
  children,
}: {
  icon: LucideIcon;
  title: string;
  children?: ReactNode;
}) {
  return (
    <div className="empty">
      <Icon size={32} strokeWidth={1.4} aria-hidden />
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Loading() {
  const texts = useTexts();
  return (
    <p className="loading" role="status">
      {texts.common.loading}
    </p>
  );
}
