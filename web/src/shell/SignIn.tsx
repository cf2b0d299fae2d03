import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState, useSyncExternalStore } from "react";
import { Dialog, Modal, ModalOverlay, Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { ApiError, BASE, sentence } from "../api/client";
import { keep, signedOutBecause } from "../api/session";
import { type Texts, useTexts } from "../texts";
import { Button, TextInput } from "../ui/controls";
import { Notice } from "../ui/notices";
import { LanguageMenu } from "./PreferenceMenus";

async function token(user: string, password: string): Promise<string> {
  const body = new URLSearchParams({ username: user, password });
  const response = await fetch(`${BASE}/login`, { method: "POST", body });
  const answer = (await response.json().catch(() => null)) as { access_token?: string } | null;
  if (!response.ok) throw new ApiError(response.status, sentence(answer, response.statusText));
  return answer?.access_token ?? "";
}

/** Returns the key when the server knows it. Raises ApiError. */
async function known(key: string): Promise<string> {
  const response = await fetch(`${BASE}/auth/principal`, { headers: { "X-API-Key": key } });
  if (!response.ok) throw new ApiError(response.status, sentence(await response.json().catch(() => null), ""));
  return key;
}

function words(error: unknown, texts: Texts, wrong: string): string {
  if (!(error instanceof ApiError)) return texts.signIn.unreachable;
  if (error.status === 429) return texts.signIn.tooMany;
  return error.status === 401 || error.status === 403 ? wrong : error.message;
}

function AccountForm({ isBusy, onSubmit }: { isBusy: boolean; onSubmit: (user: string, password: string) => void }) {
  const texts = useTexts();
  const [user, setUser] = useState("");
  const [password, setPassword] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit(user, password);
  };
  return (
    <form onSubmit={submit}>
      <TextInput label={texts.signIn.user} name="username" value={user} onChange={setUser} autoComplete="username" required />
      <TextInput
        label={texts.signIn.password}
        name="password"
        type="password"
        value={password}
        onChange={setPassword}
        autoComplete="current-password"
        required
      />
      <Button type="submit" look="primary" isDisabled={isBusy}>
        {texts.signIn.submit}
      </Button>
    </form>
  );
}

function KeyForm({ isBusy, onSubmit }: { isBusy: boolean; onSubmit: (key: string) => void }) {
  const texts = useTexts();
  const [key, setKey] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit(key.trim());
  };
  return (
    <form onSubmit={submit}>
      <TextInput
        label={texts.signIn.key}
        type="password"
        value={key}
        onChange={setKey}
        hint={texts.signIn.keyHelp}
        autoComplete="off"
        required
      />
      <Button type="submit" look="primary" isDisabled={isBusy}>
        {texts.signIn.submit}
      </Button>
    </form>
  );
}

type SignInProps = { accounts: boolean; title: string };

/** Asks for an account's name and password, or for an API key. */
export function SignIn({ accounts, title }: SignInProps) {
  const texts = useTexts();
  const queries = useQueryClient();
  const reason = useSyncExternalStore(signedOutBecause.subscribe, signedOutBecause.get);
  const [fault, setFault] = useState("");
  const [busy, setBusy] = useState(false);

  const signIn = async (wrong: string, credentials: () => Promise<{ token?: string; key?: string }>) => {
    setBusy(true);
    setFault("");
    try {
      const given = await credentials();
      // Nothing that somebody else was shown; whoever looks at the page observes `auth-status` still. After a session
      // that only ended it may be the same person: the app knows when it has asked.
      if (!reason) queries.removeQueries({ predicate: (query) => query.queryKey[0] !== "auth-status" });
      keep(given);
    } catch (error) {
      setFault(words(error, texts, wrong));
    } finally {
      setBusy(false);
    }
  };

  return (
    <main className="sign-in">
      <div className="card">
        <header>
          <img src="./icon.svg" alt="" width={36} height={36} />
          <h1>{title}</h1>
          <LanguageMenu />
        </header>
        {reason === "expired" && <Notice>{texts.signIn.expired}</Notice>}
        {fault && <Notice kind="error">{fault}</Notice>}
        <Tabs className="tabs" defaultSelectedKey={accounts ? "account" : "key"}>
          <TabList aria-label={texts.signIn.title} className="tab-list">
            {accounts && <Tab id="account">{texts.signIn.withAccount}</Tab>}
            <Tab id="key">{texts.signIn.withKey}</Tab>
          </TabList>
          <TabPanel id="account">
            <AccountForm isBusy={busy} onSubmit={(user, password) => void signIn(texts.signIn.wrong, async () => ({ token: await token(user, password) }))} />
          </TabPanel>
          <TabPanel id="key">
            <KeyForm isBusy={busy} onSubmit={(key) => void signIn(texts.signIn.wrongKey, async () => ({ key: await known(key) }))} />
          </TabPanel>
        </Tabs>
      </div>
    </main>
  );
}

/** The same over a page whose session has ended, and over its dialogs. */
export function SignInAgain(given: SignInProps) {
  const texts = useTexts();
  return (
    <ModalOverlay className="sign-in-again" isOpen isKeyboardDismissDisabled>
      <Modal>
        <Dialog aria-label={texts.signIn.title}>
          <SignIn {...given} />
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
