package dev.writ.gateway.cell;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * Which cells a gateway takes, and when it gives one back (spec/cells.md, "Sharing"). The numbers
 * of cells of two gateways that live come to differ by one at most.
 *
 * @param self the address of this gateway
 * @param own how many cells it owns, or is about to
 * @param live the addresses of the gateways that live, without the last owners of free cells
 * @param shares how many cells each owner has
 */
public record FairShare(String self, int own, List<String> live, Map<String, Integer> shares) {

  /**
   * Whether it takes a cell that is free: where no other gateway has fewer, or whoever has did not
   * take it for as long as that.
   *
   * @param free for how long it has been free
   * @param patience how long one with fewer cells is waited for
   */
  public boolean takes(Duration free, Duration patience) {
    return free.compareTo(patience) >= 0 || least() >= own;
  }

  /** Whether it gives one back: where another has two fewer or less. */
  public boolean gives() {
    return own - least() >= 2;
  }

  /** The fewest cells that another gateway has; as many as this one has where there is no other. */
  private int least() {
    return live.stream()
        .filter(address -> !address.equals(self))
        .mapToInt(address -> shares.getOrDefault(address, 0))
        .min()
        .orElse(own);
  }
}
