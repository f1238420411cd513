package dev.writ.gateway.http.limit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProxiesSayWhereARequestCameFromTest {
  private static final TrustedProxies PROXIES =
      new TrustedProxies(
          List.of(range("10.0.0.0/8"), range("192.0.2.1"), range("2001:db8:aa00::/40")));

  private static AddressRange range(String text) {
    return AddressRange.parse(text).orElseThrow();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "10.1.2.3 | 203.0.113.9 | 203.0.113.9",
        "10.1.2.3 | 203.0.113.9, 10.9.9.9 | 203.0.113.9",
        "10.1.2.3 | 198.51.100.7, 203.0.113.9 | 203.0.113.9",
        "10.1.2.3 | 203.0.113.9, 192.0.2.1, 10.0.0.1 | 203.0.113.9",
        "10.1.2.3 | 203.0.113.9, 192.0.2.2, 10.0.0.1 | 192.0.2.2",
        "10.1.2.3 | 203.0.113.9:4711 | 203.0.113.9",
        "10.1.2.3 | [2001:DB8::9]:443 | 2001:db8:0:0:0:0:0:9",
        "10.1.2.3 | 2001:db8::9 | 2001:db8:0:0:0:0:0:9",
        "10.1.2.3 | 2001:db8::9, 2001:db8:aaff::1 | 2001:db8:0:0:0:0:0:9",
        "10.1.2.3 | ::ffff:203.0.113.9 | 203.0.113.9",
        "10.1.2.3 | 203.0.113.9, unknown | 10.1.2.3",
        "10.1.2.3 | 203.0.113.9, unknown, 10.7.7.7 | 10.7.7.7",
        "10.1.2.3 | 203.0.113.9, | 10.1.2.3",
        "10.1.2.3 | [ | 10.1.2.3",
        "10.1.2.3 | localhost | 10.1.2.3",
        "10.1.2.3 | 10.4.4.4 | 10.4.4.4",
        "11.1.2.3 | 203.0.113.9 | 11.1.2.3",
        "192.0.2.2 | 203.0.113.9 | 192.0.2.2",
        "- | 203.0.113.9 | -",
      })
  void theFirstFromTheEndThatIsNoProxyCalled(String peer, String field, String caller) {
    assertThat(PROXIES.caller(peer, List.of(field))).isEqualTo(caller);
  }

  @Test
  void severalFieldsAreOneAndNoneNamesNobody() {
    assertThat(PROXIES.caller("10.0.0.1", List.of("203.0.113.9", "10.0.0.2")))
        .isEqualTo("203.0.113.9");
    assertThat(PROXIES.caller("10.0.0.1", List.of())).isEqualTo("10.0.0.1");
    assertThat(TrustedProxies.NONE.caller("10.0.0.1", List.of("203.0.113.9")))
        .isEqualTo("10.0.0.1");
  }

  /** Whatever a caller sends stands ahead of the address that the first proxy adds. */
  @Test
  void aCallerCannotChooseItsAddress() {
    Random random = new Random(20261130);
    for (int i = 0; i < 2_000; i++) {
      List<String> sent = new ArrayList<>();
      for (int field = random.nextInt(3); field >= 0; field--) {
        sent.add(invented(random));
      }
      sent.add("203.0.113.9");
      for (int proxy = random.nextInt(3); proxy > 0; proxy--) {
        sent.add("10.0.0." + proxy);
      }
      assertThat(PROXIES.caller("10.0.0.9", sent)).as("%s", sent).isEqualTo("203.0.113.9");
    }
  }

  private static String invented(Random random) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(40); i > 0; i--) {
      text.append("0123456789.:,[]abc \"".charAt(random.nextInt(20)));
    }
    return text.toString();
  }

  @Test
  void moreProxiesInARowThanAnybodyHasAreNotReadToTheirEnd() {
    List<String> row = new ArrayList<>(List.of("203.0.113.9"));
    for (int i = 0; i < 16; i++) {
      row.add("10.0.0." + i);
    }
    assertThat(PROXIES.caller("10.1.1.1", row)).isEqualTo("10.0.0.0");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "/8",
        "10.0.0.0/",
        "10.0.0.0/33",
        "10.0.0.1/8",
        "10.0.0.0/-1",
        "10.0.0.0/8/8",
        "localhost",
        "2001:db8::/129",
        "2001:db8::1/64",
        "10.0.0.0/1000",
        "10.0.0.0 /8"
      })
  void whatIsNoRangeIsRefused(String text) {
    assertThat(AddressRange.parse(text)).isEmpty();
  }

  @Test
  void aRangeOfNoBitsIsEveryAddressOfItsKind() {
    TrustedProxies all = new TrustedProxies(List.of(range("0.0.0.0/0")));
    assertThat(all.include("203.0.113.9")).isTrue();
    assertThat(all.include("2001:db8::1")).isFalse();
    assertThat(range("10.0.0.0/8"))
        .isEqualTo(range("10.0.0.0/8"))
        .hasSameHashCodeAs(range("10.0.0.0/8"))
        .isNotEqualTo(range("10.0.0.0/9"))
        .isNotEqualTo(range("11.0.0.0/8"));
  }
}
