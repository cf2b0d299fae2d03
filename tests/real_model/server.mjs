// llama.cpp behind `POST /v1/chat/completions`, streamed or not, for tests with a real language model.
//
//   node server.mjs MODEL.gguf [ANSWER_TOKENS] [CONTEXT_TOKENS]
//
// Prints `listening on <port>`, and a JSON line for each answer. Calls wait for each other: there is one context. An answer ends at ANSWER_TOKENS or at
// `max_tokens` with finish_reason "length"; a prompt that leaves no room is refused as llama.cpp's own server does it.
import { createServer } from "node:http";
import { basename } from "node:path";
import process from "node:process";
import { getLlama, LlamaChat, LlamaLogLevel } from "node-llama-cpp";

const [path, answerTokens = "512", contextTokens = "8192"] = process.argv.slice(2);
const limit = Number(answerTokens);
const llama = await getLlama({ gpu: false, build: "never", maxThreads: 1, logLevel: LlamaLogLevel.error });
const model = await llama.loadModel({ modelPath: path });
const context = await model.createContext({ contextSize: Number(contextTokens), sequences: 1 });
const chat = new LlamaChat({ contextSequence: context.getSequence() });
const jsonGrammar = await llama.getGrammarFor("json");
const name = basename(path);

class Refused extends Error {}

function historyOf(messages) {
    const history = messages.map(({ role, content }) => {
        const text = typeof content === "string" ? content : content.map((part) => part.text ?? "").join("\n");
        return role === "assistant" ? { type: "model", response: [text] } : { type: role, text };
    });
    return [...history, { type: "model", response: [] }];
}

function promptTokens(history) {
    const { contextText } = chat.chatWrapper.generateContextState({ chatHistory: history });
    return contextText.tokenize(model.tokenizer).length;
}

async function complete(request, onText, signal) {
    const history = historyOf(request.messages);
    const prompt = promptTokens(history);
    const room = context.contextSize - prompt - 8;
    if (room < 1) {
        throw new Refused("the request exceeds the available context size, try increasing it");
    }
    const meter = chat.sequence.tokenMeter.getState();
    const result = await chat.generateResponse(history, {
        grammar: request.response_format?.type === "json_object" ? jsonGrammar : undefined,
        maxTokens: Math.min(request.max_tokens ?? limit, limit, room),
        temperature: request.temperature ?? 0,
        onTextChunk: onText,
        signal,
        stopOnAbortSignal: true,
    });
    const completion = chat.sequence.tokenMeter.diff(meter).usedOutputTokens;
    const reason = result.metadata.stopReason === "maxTokens" ? "length" : "stop";
    console.log(JSON.stringify({ prompt, completion, reason, last: request.messages.at(-1).content.slice(-200) }));
    return {
        text: result.response,
        reason,
        usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
    };
}

function body(object, choice, usage) {
    return { id: "1", object, created: Math.floor(Date.now() / 1000), model: name, choices: [choice], usage };
}

async function answer(request, response, signal) {
    const write = (event) => response.write(`data: ${JSON.stringify(event)}\n\n`);
    if (!request.stream) {
        const done = await complete(request, undefined, signal);
        const message = { role: "assistant", content: done.text };
        const choice = { index: 0, message, finish_reason: done.reason };
        response.writeHead(200, { "Content-Type": "application/json" });
        response.end(JSON.stringify(body("chat.completion", choice, done.usage)));
        return;
    }
    const chunk = (delta, reason, usage) =>
        write(body("chat.completion.chunk", { index: 0, delta, finish_reason: reason }, usage));
    const begin = (text) => {
        if (!response.headersSent) {
            response.writeHead(200, { "Content-Type": "text/event-stream" });
        }
        chunk({ content: text }, null);
    };
    const done = await complete(request, begin, signal);
    begin("");
    chunk({}, done.reason, done.usage);
    response.end("data: [DONE]\n\n");
}

let last = Promise.resolve();

function inTurn(work) {
    last = last.then(work, work);
    return last;
}

function fail(response, error) {
    const status = error instanceof Refused ? 400 : 500;
    if (!response.headersSent) {
        response.writeHead(status, { "Content-Type": "application/json" });
    }
    response.end(JSON.stringify({ error: { message: String(error.message ?? error), code: status } }));
}

const server = createServer(async (incoming, response) => {
    const parts = [];
    for await (const part of incoming) {
        parts.push(part);
    }
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    await inTurn(async () => {
        if (gone.signal.aborted) {
            return;
        }
        try {
            await answer(JSON.parse(Buffer.concat(parts).toString()), response, gone.signal);
        } catch (error) {
            fail(response, error);
        }
    });
});
server.listen(0, "127.0.0.1", () => console.log(`listening on ${server.address().port}`));
