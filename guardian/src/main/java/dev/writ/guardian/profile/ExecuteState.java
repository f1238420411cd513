package dev.writ.guardian.profile;

/** What stage 7 of seed 000 looks at, within one tenant. It takes nothing. */
public interface ExecuteState {

  /** What is known of an {@code execution_request_id}. */
  enum Seen {
    NEW,
    /** The same body came before, and was neither refused for good nor run: it may go on. */
    WAITING,
    /** The same body is running. */
    RUNNING,
    /** The same body was done. */
    DONE,
    /** It came with another body. */
    OTHER_BODY
  }

  Seen seen(String executionRequestId);

  /** Whether an execution was made through this gateway that is known by this id. */
  boolean executed(String id);

  /** Nothing was ever asked. */
  static ExecuteState empty() {
    return new ExecuteState() {
      @Override
      public Seen seen(String executionRequestId) {
        return Seen.NEW;
      }

      @Override
      public boolean executed(String id) {
        return false;
      }
    };
  }
}
