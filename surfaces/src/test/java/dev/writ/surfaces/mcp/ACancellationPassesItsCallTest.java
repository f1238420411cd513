package dev.writ.surfaces.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.http.auth.Caller;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A client's messages are answered beside each other: its cancellation may come first. */
class ACancellationPassesItsCallTest {
  private final McpSession session =
      new McpSession("s", new Caller("bearer", "a", "acme", "alice", List.of()), McpView.ALL);

  private MessageInProgress begun(long id) {
    MessageInProgress work = new MessageInProgress(Optional.empty(), Optional.empty());
    session.begins(JsonValue.of(id), work);
    return work;
  }

  @Test
  void itCountsForTheCallThatComesAfterIt() {
    session.cancel(JsonValue.of(1));
    assertThat(begun(1).isCancelled()).isTrue();
    assertThat(begun(2).isCancelled()).isFalse();
  }

  @Test
  void itCountsOnceAndNotWhereItCameTooLate() {
    session.cancel(JsonValue.of(1));
    session.ends(JsonValue.of(1), begun(1));
    session.cancel(JsonValue.of(1)); // its call has ended
    assertThat(begun(1).isCancelled()).as("the id is used again").isFalse();
  }

  @Test
  void itEndsWhatIsAtWork() {
    MessageInProgress work = begun(1);
    session.cancel(JsonValue.of(1));
    assertThat(work.isCancelled()).isTrue();
  }

  @Test
  void onlyTheLastOfThemAreKept() {
    for (int i = 0; i <= 256; i++) {
      session.cancel(JsonValue.of(i));
    }
    assertThat(begun(0).isCancelled()).isFalse();
    assertThat(begun(1).isCancelled()).isTrue();
  }

  @Test
  void whatCanBeNoIdIsNotKept() {
    JsonValue tooLong = JsonValue.of("x".repeat(McpMessage.TEXT_MAX + 1));
    session.cancel(tooLong);
    MessageInProgress work = new MessageInProgress(Optional.empty(), Optional.empty());
    session.begins(tooLong, work);
    assertThat(work.isCancelled()).isFalse();
  }
}
