import { Component, type ReactNode } from "react";
import { useRouteError } from "react-router";
import { useTexts } from "../texts";
import { Button } from "./controls";
import { Failure } from "./notices";

/** Shown in place of a page that could not be drawn. */
export function Crashed() {
  const texts = useTexts();
  const error = useRouteError();
  return (
    <main className="page">
      <h1>{texts.common.crashed}</h1>
      <Failure error={error} />
      <Button onPress={() => location.reload()}>{texts.common.reload}</Button>
    </main>
  );
}

function Crash({ error }: { error: unknown }) {
  const texts = useTexts();
  return (
    <div className="page">
      <Failure error={error} />
      <div className="add">
        <Button onPress={() => location.reload()}>{texts.common.reload}</Button>
      </div>
    </div>
  );
}

/** Keeps an error in one part from taking the rest of the page with it. */
export class CrashGuard extends Component<{ children: ReactNode }, { error: unknown }> {
  override state = { error: null as unknown };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    return this.state.error ? <Crash error={this.state.error} /> : this.props.children;
  }
}
