package dev.writ.cli.hook;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;

/**
 * The answer to an agent.
 *
 * @param reason for the agent and its user
 */
record Permission(Answer answer, String reason) {

  /** What the agent is told to do. */
  enum Answer {
    ALLOW("allow"),
    /** Its user decides. */
    ASK("ask"),
    DENY("deny"),
    /** The agent's own rules decide. */
    DEFER("");

    private final String text;

    Answer(String text) {
      this.text = text;
    }
  }

  /** For an agent that cannot ask its user, asking is a denial. */
  Permission forEvent(HookEvent event) {
    return answer == Answer.ASK && !event.agent().canAsk(event.name())
        ? new Permission(Answer.DENY, reason)
        : this;
  }

  /** In the form that the agent understands; nothing where there is nothing to say. */
  byte[] toBytes(HookEvent event) {
    if (event.isReport() || answer == Answer.DEFER) {
      return new byte[0];
    }
    return switch (event.agent()) {
      case CLAUDE_CODE, VSCODE -> specific(event);
      case CODEX -> answer == Answer.DENY ? specific(event) : new byte[0];
      case CURSOR -> {
        ObjectBuilder said = JsonValue.object().put("permission", answer.text);
        if (answer != Answer.ALLOW) {
          said.put("user_message", reason).put("agent_message", reason);
        }
        yield Jcs.write(said.build());
      }
    };
  }

  private byte[] specific(HookEvent event) {
    return Jcs.write(
        JsonValue.object()
            .put(
                "hookSpecificOutput",
                JsonValue.object()
                    .put("hookEventName", event.name())
                    .put("permissionDecision", answer.text)
                    .put("permissionDecisionReason", reason)
                    .build())
            .build());
  }
}
