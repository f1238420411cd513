package dev.writ.gateway.http;

import dev.writ.gateway.http.message.Headers;
import java.time.Instant;

/** What a server knows of the cells of an installation (spec/cells.md). */
public interface TenantCells {

  /** Of a server whose log is the whole installation. */
  TenantCells ALONE =
      new TenantCells() {
        @Override
        public FormerCellList former(String tenant) {
          return FormerCellList.NONE;
        }

        @Override
        public boolean isByTenant(
            String method, String path, Headers headers, Client client, Instant now) {
          return false;
        }
      };

  /** Those in which a tenant was that is in the server's cell now. */
  FormerCellList former(String tenant);

  /**
   * Whether a request with such a head goes to the cell of the tenant whose it is, as far as a
   * gateway has seen where that is; not because the caller has named the cell.
   */
  boolean isByTenant(String method, String path, Headers headers, Client client, Instant now);
}
