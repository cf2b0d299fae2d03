import type { Texts } from "../en";

/** The words about who may see a document, in Chinese. */
export const access: Texts["access"] = {
  title: "可见范围",
  everyone: "工作区的所有人",
  nobody: "只有能看到全部内容的人",
  allowed: "允许",
  denied: "拒绝（优先于允许）",
  changed: (when, who) => (who ? `${who} 更改于 ${when}。` : `更改于 ${when}。`),
  change: "设置谁能看到",
  dialogTitle: (name) => `谁能看到 ${name}？`,
  dialogText: "看不到的人从下一个问题起，在回答、列表和图谱中都找不到它的痕迹。没有绑定主体的人能看到全部。",
  allow: "允许",
  allowHint: "user:ann, group:council, everyone；留空：无人",
  deny: "拒绝",
  denyHint: "优先于允许。",
  reason: "理由",
  save: "保存",
  open: "让所有人看到",
  ask: "某人能看到吗？",
  who: "主体，例如 user:ann, group:press",
  whoHint: "按回车键。",
  sees: (reason) => `能看到：${reason}。`,
  hidden: (reason) => `看不到：${reason}。`,
};
