import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ThumbsDown, ThumbsUp } from "lucide-react";
import { type FormEvent, useState } from "react";
import { api as apiOf, data, type Schemas } from "../../api/client";
import { useMayWrite } from "../../api/principal";
import { useTexts } from "../../texts";
import { Button, TextInput } from "../../ui/controls";
import { Dialog } from "../../ui/dialogs";
import { Failure, Notice } from "../../ui/notices";
import type { Turn } from "../ask/conversation";
import { feedbackOf } from "./feedback";
import { GoldenDialog } from "./GoldenDialog";

type Rating = Schemas["FeedbackRequest"]["rating"];

type ReasonProps = { turn: Turn; rating: Rating; onClose: () => void };

function Reason({ turn, rating, onClose }: ReasonProps) {
  const texts = useTexts();
  const mayWrite = useMayWrite();
  const queries = useQueryClient();
  const [reason, setReason] = useState("");
  const [isMaking, setMaking] = useState(false);
  const send = useMutation({
    mutationFn: async () => data(await apiOf(turn.workspace).POST("/feedback", { body: feedbackOf(turn, rating, reason.trim()) })).id,
    onSettled: () => queries.invalidateQueries({ queryKey: [turn.workspace, "golden"] }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send.mutate();
  };
  if (isMaking) {
    const documents = rating === "up" ? turn.references.map(({ file_path }) => file_path) : [];
    return <GoldenDialog origin={{ question: turn.question.query, feedback: send.data ?? "", documents }} onClose={onClose} />;
  }
  return (
    <Dialog title={texts.golden[rating]} isOpen onClose={onClose}>
      <form onSubmit={submit}>
        {send.error && <Failure error={send.error} />}
        {send.isSuccess ? (
          <Notice>{texts.golden.thanks}</Notice>
        ) : (
          <TextInput label={texts.golden.why} hint={texts.golden.whyHint} value={reason} onChange={(text) => setReason(text.slice(0, 1000))} rows={3} autoFocus />
        )}
        <div className="actions">
          <Button onPress={onClose}>{send.isSuccess ? texts.common.close : texts.common.cancel}</Button>
          {!send.isSuccess && (
            <Button type="submit" look="primary" isDisabled={send.isPending}>
              {texts.golden.send}
            </Button>
          )}
          {send.isSuccess && mayWrite && (
            <Button look="primary" onPress={() => setMaking(true)}>
              {texts.golden.make}
            </Button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

/** Says whether an answer helped. */
export function Thumbs({ turn }: { turn: Turn }) {
  const texts = useTexts();
  const [rating, setRating] = useState<Rating | undefined>(undefined);
  return (
    <>
      <Button look="quiet" icon={ThumbsUp} label={texts.golden.up} onPress={() => setRating("up")} />
      <Button look="quiet" icon={ThumbsDown} label={texts.golden.down} onPress={() => setRating("down")} />
      {rating && <Reason turn={turn} rating={rating} onClose={() => setRating(undefined)} />}
    </>
  );
}
