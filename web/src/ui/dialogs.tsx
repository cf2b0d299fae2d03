import type { ReactNode } from "react";
import * as Aria from "react-aria-components";
import { useTexts } from "../texts";
import { Button } from "./controls";

type DialogProps = {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
};

export function Dialog({ title, isOpen, onClose, children, wide }: DialogProps) {
  return (
    <Aria.ModalOverlay
      className="overlay"
      isOpen={isOpen}
      onOpenChange={(open) => !open && onClose()}
      isDismissable
    >
      <Aria.Modal className={wide ? "modal wide" : "modal"}>
        <Aria.Dialog className="dialog">
          <Aria.Heading slot="title">{title}</Aria.Heading>
          {children}
        </Aria.Dialog>
      </Aria.Modal>
    </Aria.ModalOverlay>
  );
}

type ConfirmProps = {
  title: string;
  text: string;
  action: string;
  isOpen: boolean;
  onClose: () => void;
  onConfirm: () => void;
};

/** Asks before something that cannot be taken back. */
export function Confirm({ title, text, action, isOpen, onClose, onConfirm }: ConfirmProps) {
  const texts = useTexts();
  return (
    <Dialog title={title} isOpen={isOpen} onClose={onClose}>
      <p>{text}</p>
      <div className="actions">
        <Button onPress={onClose}>{texts.common.cancel}</Button>
        <Button
          look="danger"
          autoFocus
          onPress={() => {
            onConfirm();
            onClose();
          }}
        >
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
