import type { Texts } from "../en";

export const states: Texts["states"] = {
  fault: (parts) => `目前有部分功能异常（${parts}）：恢复之前，答案和列表可能不完整或失败。已添加的内容不会丢失。`,
  refusing: (name, until) => `${name} ${until ? `在 ${until} 之前` : "目前"}不接受请求：需要它的文档会等待，之后自动继续。之前已读取的内容照常回答。`,
  behind: (n) => `仍有 ${n} 个文档在读取中：答案目前只知道其中的一部分。`,
  more: "查看问题",
  parts: {
    log: "日志",
    stores: "存储",
    publishes: "写入日志",
    region: "区域",
    clock: "时钟",
    webhooks: "网络钩子",
    "log: audit": "日志检查",
  },
};
