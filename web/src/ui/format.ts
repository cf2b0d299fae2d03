import { useMemo } from "react";
import { useLanguage } from "../texts";

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** Numbers and times as people of the chosen language write them. */
export function useFormat() {
  const language = useLanguage();
  return useMemo(() => {
    const numbers = new Intl.NumberFormat(language);
    const compact = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 });
    const moment = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "medium" });
    const clock = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 1, hourCycle: "h23" });
    const minute = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
    const day = new Intl.DateTimeFormat(language, { dateStyle: "medium" });
    const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "short" });
    return {
      number: (value: number) => numbers.format(value),
      compact: (value: number) => compact.format(value),
      moment: (when: string | number) => moment.format(new Date(when)),
      clock: (when: string | number) => clock.format(new Date(when)),
      minute: (when: string | number) => minute.format(new Date(when)),
      day: (when: string | number) => day.format(new Date(when)),
      /** `5 min. ago`; a date for what is older than a week. */
      ago(when: string | number): string {
        const seconds = (new Date(when).getTime() - Date.now()) / 1000;
        if (Math.abs(seconds) > 7 * 86_400) return day.format(new Date(when));
        for (const [unit, size] of UNITS)
          if (Math.abs(seconds) >= size) return relative.format(Math.round(seconds / size), unit);
        return relative.format(Math.min(0, Math.round(seconds)), "second");
      },
    };
  }, [language]);
}

/** Money with the digits that small sums need. */
export function useMoney() {
  const format = useFormat();
  return (value: number | null | undefined, currency: string) =>
    value === null || value === undefined ? "–" : `${value > 0 && value < 0.01 ? value.toPrecision(2) : format.number(Math.round(value * 100) / 100)} ${currency}`;
}
