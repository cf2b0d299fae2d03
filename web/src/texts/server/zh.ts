/** Sentences of the server in Chinese, by their form; `$1` and its like stand for what they name. All others are shown in English, and marked as that. */
export const SENTENCES: readonly (readonly [RegExp, string])[] = [
  [/^chunk (\d+): (\d+) entities, (\d+) relations \((.+?)(?:, cached)?\)$/, "片段 $1：$2 个实体，$3 个关系（$4）"],
  [/^(.+), ([\d,]+) bytes$/, "$1，$2 字节"],
  [/^(\d+) of (\d+) chunks$/, "$1 / $2 个片段"],
  [/^(\d+) of (\d+) chunks, part (\d+) of (\d+)$/, "$1 / $2 个片段，第 $3 / $4 部分"],
  [/^(\d+) entities and (\d+) relations changed$/, "$1 个实体和 $2 个关系有变化"],
  [/^\w+: (\d+) chunks, (\d+) texts embedded \((.+)\)$/, "$1 个片段，嵌入了 $2 段文本（$3）"],
  [/^deleted$/, "已删除"],
  [/^deleted: (.*)$/, "已删除：$1"],
  [/^is to be erased$/, "将被彻底抹除"],
  [/^everyone may see it$/, "所有人可见"],
  [/^no tags$/, "没有标签"],
  [/^budget cleared$/, "预算已清除"],
  [/^an answer got a thumb up$/, "一个答案被评为有帮助"],
  [/^an answer got a thumb down$/, "一个答案被评为没有帮助"],
  [/^questions took ([\d,]+) tokens \((.+)\)$/, "提问用了 $1 个 token（$2）"],
  [/^undo the deletion of (.+) \(.+\): its text of sequence (\d+) is added again$/, "撤销删除 $1：重新添加其序号 $2 的文本"],
  [/^undo the new text of (.+) \(.+\): its text of sequence (\d+) is added again$/, "撤销 $1 的新文本：重新添加其序号 $2 的文本"],
  [/^the last whole pass ended at (.+); nothing is amiss$/, "上一次完整检查结束于 $1；没有问题"],
  [/^the log holds ([\d,]+) events.*$/, "日志中有 $1 个事件"],
  [/^The question names entities of the graph: (.+)\. Only names .+ in memory yet, or too many\.$/, "问题提到了图谱中的实体：$1。尚未读取全部名称，只查找了最近段落中的名称。"],
  [/^The question names entities of the graph: (.+)\.$/, "问题提到了图谱中的实体：$1。"],
  [/^The question names no entity of the graph: what walk and mix find is put together\.$/, "问题没有提到图谱中的实体：合并了 walk 与 mix 的结果。"],
  [/^The question names no entity of the graph: .+ put together\. Only names .+ in memory yet, or too many\.$/, "问题没有提到图谱中的实体：合并了 walk 与 mix 的结果。尚未读取全部名称，只查找了最近段落中的名称。"],
];

/** Notes of answers without a model, as `offline/answers/extractive_answer.py` writes them. */
export const NOTES: Readonly<Record<string, string>> = {
  "(No language model is configured: these sentences are quoted from the documents as they stand.)": "（未设置语言模型：这些句子原样引自文档。）",
  "(No language model is configured: no sentence of what was found fits the question; only_need_context shows what was found.)":
    "（未设置语言模型：找到的内容中没有与问题相符的句子；“依据”列出了找到的内容。）",
  "The documents do not say.": "文档中没有提到。",
  "Nearest to the question stands this, which may be about something else, so look whether it answers:": "与问题最接近的是以下内容，它说的可能是别的事，请看看是否回答了问题：",
};
