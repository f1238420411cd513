package dev.writ.executor;

import dev.writ.canonicalize.Digest;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Which of an installation's cells has a tenant (spec/cells.md, "Tenants"). It follows from the
 * tenant's name and the number of cells alone, and both never change.
 */
public final class CellPlacement {
  /** Has the statements on keys, policy and tools; and of several cells nothing else. */
  public static final int SYSTEM = 0;

  /** The most cells that an installation can be made with. */
  public static final int CELLS_MAX = 256;

  private static final String CONTEXT = "writ/cell/v1\n";

  /** Of the digest, so that no cell is preferred measurably. */
  private static final int BYTES = 8;

  private CellPlacement() {}

  /**
   * The name of a cell's log.
   *
   * @param installation the name of the system cell's
   */
  public static String origin(String installation, int cell) {
    return cell == SYSTEM ? installation : installation + "/cell-" + cell;
  }

  /**
   * The number of the tenant's cell.
   *
   * @param cells of the installation
   */
  public static int cellOf(String tenant, int cells) {
    if (cells == 1) {
      return SYSTEM;
    }
    byte[] digest = Digest.sha256((CONTEXT + tenant).getBytes(StandardCharsets.UTF_8)).bytes();
    BigInteger drawn = new BigInteger(1, Arrays.copyOf(digest, BYTES));
    return 1 + drawn.mod(BigInteger.valueOf(cells - 1L)).intValueExact();
  }
}
