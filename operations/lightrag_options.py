"""What takes the place of LightRAG's options of single bindings, such as OLLAMA_LLM_NUM_CTX."""

import re

OPTION = re.compile(
    r"(?:(?P<role>EXTRACT|SUMMARY|KEYWORD|QUERY)_)?(?P<binding>OLLAMA|OPENAI|GEMINI|BEDROCK)_"
    r"(?P<kind>LLM|EMBEDDING)_(?P<option>\w+)"
)

GENERAL_SETTINGS = {
    "TEMPERATURE": "LLM_TEMPERATURE",
    "MAX_TOKENS": "LLM_MAX_TOKENS",
    "NUM_PREDICT": "LLM_MAX_TOKENS",
    "MAX_OUTPUT_TOKENS": "LLM_MAX_TOKENS",
}
"""Settings of ours that mean the same as an option, where it is set for all roles."""


def substitute(name: str) -> str:
    """Return what to set instead of this variable, in upper case; empty where it is no such
    option.
    """
    match = OPTION.fullmatch(name)
    if not match:
        return ""
    role = match["role"]
    kind = match["kind"]
    option = match["option"]
    if option == "NUM_CTX" and role:
        return f'{role}_LLM_EXTRA_BODY, as {{"options": {{"num_ctx": …}}}}'
    if kind == "EMBEDDING":
        return (
            f'EMBEDDING_DOCUMENT_EXTRA_BODY and EMBEDDING_QUERY_EXTRA_BODY, with "{option.lower()}"'
        )
    if option in GENERAL_SETTINGS and not role:
        return GENERAL_SETTINGS[option]
    field = {"NUM_PREDICT": "max_tokens", "MAX_OUTPUT_TOKENS": "max_tokens"}.get(
        option, option.lower()
    )
    return f'{f"{role}_" if role else ""}LLM_EXTRA_BODY, as {{"{field}": …}}'
