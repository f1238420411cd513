package dev.writ.cli.command.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TheConsolesAddressIsABrowsersTest {
  @ParameterizedTest
  @CsvSource({
    "http://0.0.0.0:8088, http://localhost:8088",
    "http://[::]:8088, http://localhost:8088",
    "https://0.0.0.0:8443, https://localhost:8443",
    "http://127.0.0.1:8181, http://127.0.0.1:8181",
    "http://[::1]:8181, http://[::1]:8181",
    "https://gate.example:8443, https://gate.example:8443",
  })
  void one_that_listens_everywhere_is_called_by_a_name_of_this_machine(URI listens, URI opened) {
    assertThat(ConsoleCommand.forBrowser(listens)).isEqualTo(opened);
  }
}
