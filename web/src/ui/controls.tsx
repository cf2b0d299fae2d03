import { Check, ChevronDown, Copy, type LucideIcon } from "lucide-react";
import { type ReactNode, useState, useId } from "react";
import * as Aria from "react-aria-components";
import { useTexts } from "../texts";

type ButtonProps = Aria.ButtonProps & {
  icon?: LucideIcon;
  look?: "plain" | "primary" | "danger" | "quiet";
  children?: ReactNode;
  /** What it does, for a button that is only an icon. */
  label?: string;
};

export function Button({ icon: Icon, look = "plain", children, label, className, ...rest }: ButtonProps) {
  const bare = children === undefined ? " bare" : "";
  const button = (
    <Aria.Button
      {...rest}
      {...(label ? { "aria-label": label } : {})}
      className={`button ${look}${bare} ${className ?? ""}`}
    >
      {Icon && <Icon size={16} aria-hidden />}
      {children}
    </Aria.Button>
  );
  if (!label || children !== undefined) return button;
  return (
    <Aria.TooltipTrigger delay={400}>
      {button}
      <Aria.Tooltip className="tooltip">{label}</Aria.Tooltip>
    </Aria.TooltipTrigger>
  );
}

export interface Choice<K extends string> {
  id: K;
  name: string;
  hint?: string;
}

type SelectProps<K extends string> = {
  label: string;
  value: K;
  choices: Choice<K>[];
  onChange: (value: K) => void;
  hideLabel?: boolean;
};

export function Select<K extends string>({ label, value, choices, onChange, hideLabel }: SelectProps<K>) {
  return (
    <Aria.Select
      className="field"
      selectedKey={value}
      onSelectionChange={(key) => onChange(key as K)}
      {...(hideLabel ? { "aria-label": label } : {})}
    >
      {!hideLabel && <Aria.Label>{label}</Aria.Label>}
      <Aria.Button className="button plain select">
        <Aria.SelectValue className="value">
          {choices.find((choice) => choice.id === value)?.name}
        </Aria.SelectValue>
        <ChevronDown size={14} aria-hidden />
      </Aria.Button>
      <Aria.Popover className="popover">
        <Aria.ListBox className="options" items={choices}>
          {(choice) => (
            <Aria.ListBoxItem id={choice.id} textValue={choice.name} className="option">
              <Aria.Text slot="label">{choice.name}</Aria.Text>
              {choice.hint && (
                <Aria.Text slot="description" className="hint">
                  {choice.hint}
                </Aria.Text>
              )}
            </Aria.ListBoxItem>
          )}
        </Aria.ListBox>
      </Aria.Popover>
    </Aria.Select>
  );
}

type TextProps = {
  label: string;
  value: string;
  onChange: (value: string) => void;
  type?: "text" | "password" | "date" | "number";
  rows?: number;
  name?: string;
  hint?: string;
  autoComplete?: string;
  autoFocus?: boolean;
  required?: boolean;
  placeholder?: string;
  /** Values that are offered; others may be written. */
  offered?: readonly string[];
};

export function TextInput({ label, rows, hint, placeholder = "", required, offered, ...rest }: TextProps) {
  const list = useId();
  return (
    <Aria.TextField className="field" {...rest} isRequired={required ?? false}>
      <Aria.Label>{label}</Aria.Label>
      {rows ? (
        <Aria.TextArea rows={rows} placeholder={placeholder} />
      ) : (
        <Aria.Input placeholder={placeholder} {...(offered ? { list } : {})} />
      )}
      {offered && (
        <datalist id={list}>
          {offered.map((value) => (
            <option key={value} value={value} />
          ))}
        </datalist>
      )}
      {hint && (
        <Aria.Text slot="description" className="hint">
          {hint}
        </Aria.Text>
      )}
    </Aria.TextField>
  );
}

export function CopyButton({ text, label }: { text: string; label?: string }) {
  const texts = useTexts();
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <Button
      look="quiet"
      icon={copied ? Check : Copy}
      label={copied ? texts.common.copied : (label ?? texts.common.copy)}
      onPress={() => void copy()}
    />
  );
}
