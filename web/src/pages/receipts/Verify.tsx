import { useMutation } from "@tanstack/react-query";
import { ShieldCheck } from "lucide-react";
import { data, useApi } from "../../api/client";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { Failure, Notice } from "../../ui/notices";

/** Compares a receipt with its hashes and with the log, when somebody asks for it. */
export function Verify({ id }: { id: string }) {
  const texts = useTexts().receipts;
  const api = useApi();
  const verify = useMutation({
    mutationFn: async () => data(await api.GET("/receipts/{id}/verification", { params: { path: { id } } })),
  });
  const { data: verification } = verify;
  return (
    <div className="check">
      <Button icon={ShieldCheck} isDisabled={verify.isPending} onPress={() => verify.mutate()}>
        {texts.verify}
      </Button>
      {verify.error && <Failure error={verify.error} />}
      {verification && verification.problems.length === 0 && (
        <Notice>
          {texts.verified(verification.passages)} {verification.erased_passages > 0 && texts.verifiedErased(verification.erased_passages)}
        </Notice>
      )}
      {verification && verification.problems.length > 0 && (
        <Notice kind="error">
          <ul>
            {verification.problems.map((problem) => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
        </Notice>
      )}
    </div>
  );
}
