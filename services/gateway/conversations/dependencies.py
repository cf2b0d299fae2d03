"""What the routes of conversations work with."""

from typing import Annotated

from services.gateway.conversations.store import Conversations
from services.gateway.dependencies import depends_on

ConversationDeps = Annotated[Conversations, depends_on(Conversations)]
