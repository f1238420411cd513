package dev.writ.executor;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.error.ExecutorError;

/** Work of a tenant that, by what this cell has seen, another one has. */
public final class TenantElsewhere extends WritException {
  private static final long serialVersionUID = 1L;

  private final String tenant;

  /**
   * @param right the cell that has it
   * @param here the cell that was asked
   */
  public TenantElsewhere(String tenant, int right, int here) {
    super(
        ExecutorError.OTHER_CELL,
        "the tenant " + tenant + " is in cell " + right + ", this is cell " + here);
    this.tenant = tenant;
  }

  /** Whose work it is. */
  public String tenant() {
    return tenant;
  }
}
