package dev.writ.surfaces.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.tools.language.PoolName;
import java.util.Optional;

/**
 * What the tool engine is told of the server that it runs in.
 *
 * @param region where the server stands: it is in the context of each request and result
 * @param queue what is told of waiting calls, so that workers are started for them
 */
public record EnginePlace(Optional<String> region, Queue queue) {
  /** No region, and nothing that wants to know of waiting calls. */
  public static final EnginePlace NONE = new EnginePlace(Optional.empty(), Queue.NONE);

  /** Is told of calls that wait for their turn. */
  public interface Queue {
    Queue NONE =
        new Queue() {
          @Override
          public void waits(String tenant, PoolName pool, Digest packageDigest) {}

          @Override
          public void goes(String tenant, PoolName pool, Digest packageDigest) {}
        };

    /** A call waits. */
    void waits(String tenant, PoolName pool, Digest packageDigest);

    /** It has its turn, or waits no longer; called once for each {@link #waits}. */
    void goes(String tenant, PoolName pool, Digest packageDigest);
  }
}
