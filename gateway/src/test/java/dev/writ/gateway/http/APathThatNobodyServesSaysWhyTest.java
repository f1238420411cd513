package dev.writ.gateway.http;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.gateway.http.message.Headers;
import java.util.List;
import org.junit.jupiter.api.Test;

class APathThatNobodyServesSaysWhyTest {
  private static final Headers NONE = Headers.of(List.of());

  /** A surface with one address, as MCP has it. */
  private static final class Mcp implements Surface {
    @Override
    public String name() {
      return "mcp";
    }

    @Override
    public List<Route> routes() {
      return List.of(Route.post("/mcp", Route.Access.CALLER, 1, _ -> null));
    }
  }

  @Test
  void aSurfaceIsCalledMissingOnlyWhereItIs() {
    assertThatThrownBy(() -> new Router(List.of()).find("POST", "/mcp/sse", NONE))
        .hasMessageContaining("GWY-011")
        .hasMessageContaining("of the surface mcp, which the configuration does not have");
    assertThatThrownBy(() -> new Router(List.of(new Mcp())).find("POST", "/mcp/sse", NONE))
        .hasMessageContaining("GWY-011")
        .message()
        .doesNotContain("which the configuration does not have");
  }

  @Test
  void anAddressThatEndsInTheVersionIsTold() {
    for (String path : List.of("/v1/v1/effects", "/mcp/v1/tools", "/v1/effects/v1/tools")) {
      assertThatThrownBy(() -> new Router(List.of()).find("GET", path, NONE))
          .hasMessageContaining("GWY-011")
          .hasMessageContaining("/v1/: a client's address ends before that");
    }
  }
}
