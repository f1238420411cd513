package dev.writ.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.executor.error.ExecutorError;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.Problems;
import dev.writ.gateway.schedule.LaneError;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.profile.ProfileError;
import dev.writ.ledger.error.LedgerError;
import io.grpc.Status;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The table of spec/surface-tools.md, gRPC, is what is sent; each code of a refusal is in it. */
class StatusesAreWhatTheSpecSaysTest {
  private static final Pattern ROW =
      Pattern.compile("(?m)^\\| ([0-9][0-9, ]+) \\| `([A-Z_]+)` \\|$");

  private static TreeMap<Integer, Status.Code> table() throws Exception {
    Path root = Path.of(System.getProperty("writ.root", ".."));
    String page = Files.readString(root.resolve("spec/surface-tools.md"));
    TreeMap<Integer, Status.Code> table = new TreeMap<>();
    for (MatchResult row : ROW.matcher(page).results().toList()) {
      for (String status : row.group(1).split(", ")) {
        assertThat(table.put(Integer.parseInt(status.strip()), Status.Code.valueOf(row.group(2))))
            .isNull();
      }
    }
    return table;
  }

  @Test
  void thePagesTableIsWhatIsSent() throws Exception {
    TreeMap<Integer, Status.Code> table = table();
    assertThat(table).hasSizeGreaterThan(15);
    table.forEach((http, code) -> assertThat(GrpcStatuses.of(http)).as("%d", http).isEqualTo(code));
  }

  @Test
  void eachCodeOfARefusalHasAStatusInTheTable() throws Exception {
    List<ErrorCode> codes =
        Stream.<ErrorCode[]>of(
                GatewayError.values(),
                LaneError.values(),
                GuardianError.values(),
                ProfileError.values(),
                ExecutorError.values(),
                LedgerError.values())
            .flatMap(Stream::of)
            .toList();
    assertThat(table().keySet()).containsAll(codes.stream().map(Problems::status).toList());
  }
}
