package dev.writ.tools.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.SecretFile;
import java.io.ByteArrayOutputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What a secret is written as, it is found; and nothing else is taken away. */
class SecretsAreMaskedTest {
  private static final long SEED = Long.getLong("writ.seed", 20261122L);
  private static final String TOKEN = "s3cr+t/Tök3n %\"x\\";

  private static Masking of(String... secrets) {
    List<SecretFile> files = new ArrayList<>();
    for (String secret : secrets) {
      files.add(new SecretFile("n" + files.size(), secret.getBytes(StandardCharsets.UTF_8)));
    }
    return new Masking(files);
  }

  private static String masked(Masking masking, String text) {
    return new String(masking.apply(text.getBytes(StandardCharsets.UTF_8)), StandardCharsets.UTF_8);
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void asItIsAndTwiceInARow() {
    Masking masking = of(TOKEN);
    assertThat(masked(masking, "a " + TOKEN + TOKEN + " b")).isEqualTo("a [secret][secret] b");
    assertThat(masked(masking, TOKEN)).isEqualTo("[secret]");
    assertThat(masked(masking, "")).isEmpty();
    assertThat(masking.finds("x" + TOKEN)).isTrue();
    assertThat(masking.finds("x" + TOKEN.substring(1))).isFalse();
  }

  @Test
  void inTheFormsThatProgramsWrite() {
    Masking masking = of(TOKEN);
    String url = URLEncoder.encode(TOKEN, StandardCharsets.UTF_8);
    assertThat(masked(masking, "?t=" + url + "&u=1")).isEqualTo("?t=[secret]&u=1");
    assertThat(masked(masking, "?t=" + url.replace("%2F", "%2f").replace("+", "%20")))
        .isEqualTo("?t=[secret]");
    String all = HexFormat.of().withPrefix("%").formatHex(TOKEN.getBytes(StandardCharsets.UTF_8));
    assertThat(masked(masking, all + "!")).isEqualTo("[secret]!");
    assertThat(masked(masking, "{\"t\":\"s3cr+t/Tök3n %\\\"x\\\\\"}"))
        .isEqualTo("{\"t\":\"[secret]\"}");
    assertThat(masked(masking, "s3cr+t\\/Tök3n\\u0020%\\u0022x\\u005C.")).isEqualTo("[secret].");
    String hex = HexFormat.of().formatHex(TOKEN.getBytes(StandardCharsets.UTF_8));
    assertThat(masked(masking, "<" + hex + ">")).isEqualTo("<[secret]>");
    assertThat(masked(masking, hex.toUpperCase(Locale.ROOT))).isEqualTo("[secret]");
  }

  @Test
  void inBase64AtEachOffsetAlsoWrapped() {
    Masking masking = of(TOKEN);
    for (String before : List.of("", "u", "us", "user:")) {
      for (String after : List.of("", "\n", "yz", "xyz")) {
        String found = masked(masking, base64(before + TOKEN + after));
        assertThat(found).as(before + "|" + after).contains("[secret]");
        assertThat(found.replace("[secret]", "").length())
            .isLessThanOrEqualTo(base64(before + after).length() + 4);
        String url =
            Base64.getUrlEncoder()
                .encodeToString((before + TOKEN + after).getBytes(StandardCharsets.UTF_8));
        assertThat(masked(masking, url)).contains("[secret]");
      }
    }
    String longOne = "k".repeat(50) + "0123456789".repeat(20);
    String mime =
        Base64.getMimeEncoder()
            .encodeToString(("authorization: " + longOne).getBytes(StandardCharsets.UTF_8));
    assertThat(masked(of(longOne), mime)).contains("[secret]").hasSizeLessThan(40);
    assertThat(masked(of(longOne), mime.replace("\r", ""))).hasSizeLessThan(40);
  }

  @Test
  void eachLongLineOfASecretOfSeveral() {
    Masking masking = of("-----BEGIN KEY-----\nQUJDREVGR0g=\nshort\n-----END KEY-----\n");
    assertThat(masked(masking, "line 2: QUJDREVGR0g=, line 3: short"))
        .isEqualTo("line 2: [secret], line 3: short");
  }

  @Test
  void outputThatWasCutInTheMiddleOfOne() {
    Masking masking = of("abcdefghijkl");
    byte[] text = "log: abcdefg".getBytes(StandardCharsets.UTF_8);
    assertThat(new String(masking.apply(text, true), StandardCharsets.UTF_8))
        .isEqualTo("log: [secret]");
    assertThat(masking.apply(text, false)).isEqualTo(text);
    assertThat(masking.apply("log: abc".getBytes(StandardCharsets.UTF_8), true))
        .isEqualTo("log: abc".getBytes(StandardCharsets.UTF_8));
    byte[] encoded = base64("user:abcdefghijkl").substring(0, 14).getBytes(StandardCharsets.UTF_8);
    assertThat(new String(masking.apply(encoded, true), StandardCharsets.UTF_8))
        .endsWith("[secret]");
  }

  @Test
  void overlappingOnesBecomeOneMark() {
    assertThat(masked(of("abcdefgh", "efghijkl"), "-abcdefghijkl-")).isEqualTo("-[secret]-");
    assertThat(masked(of("abcdefgh", "abcdefghij"), "abcdefghij")).isEqualTo("[secret]");
  }

  @Test
  void whatIsNoSecretStays() {
    Masking masking = of(TOKEN, "aaaaaaaa");
    String text = "s3cr+t/Tök3n %\"y %73%33 aaaaaaa \\u0061 6161616161616161".substring(0, 40);
    assertThat(masked(masking, text)).isEqualTo(text);
    byte[] noise = new byte[100_000];
    new Random(SEED).nextBytes(noise);
    assertThat(masking.apply(noise)).isEqualTo(noise);
    assertThat(new Masking(List.of()).apply(noise)).isSameAs(noise);
  }

  /** Wherever output is cut into pieces, the same is told, and no piece tells a secret. */
  @Test
  void piecesGiveTheSameAsTheWhole() {
    Random random = new Random(SEED);
    for (int round = 0; round < 400; round++) {
      String secret = letters(random, 8 + random.nextInt(20));
      String other = letters(random, 8 + random.nextInt(8));
      Masking masking = of(secret, other, secret.substring(0, 8) + other);
      ByteArrayOutputStream text = new ByteArrayOutputStream();
      for (int i = 0; i < 12; i++) {
        text.writeBytes(piece(random, secret, other).getBytes(StandardCharsets.UTF_8));
      }
      byte[] whole = text.toByteArray();
      boolean cut = random.nextBoolean();
      Masking.Stream stream = masking.stream();
      ByteArrayOutputStream told = new ByteArrayOutputStream();
      for (int at = 0; at < whole.length; ) {
        int to = Math.min(whole.length, at + 1 + random.nextInt(30));
        told.writeBytes(stream.next(Arrays.copyOfRange(whole, at, to)));
        at = to;
      }
      told.writeBytes(stream.end(cut));
      assertThat(told.toByteArray())
          .as("seed %d, round %d", SEED, round)
          .isEqualTo(masking.apply(whole, cut));
      String result = told.toString(StandardCharsets.UTF_8);
      assertThat(result).as("seed %d, round %d", SEED, round).doesNotContain(secret, other);
      assertThat(masking.finds(result)).as("seed %d, round %d", SEED, round).isFalse();
    }
  }

  private static String piece(Random random, String secret, String other) {
    return switch (random.nextInt(9)) {
      case 0 -> secret;
      case 1 -> other;
      case 2 -> base64(letters(random, random.nextInt(4)) + secret);
      case 3 -> URLEncoder.encode(secret, StandardCharsets.UTF_8);
      case 4 -> HexFormat.of().formatHex(other.getBytes(StandardCharsets.UTF_8));
      case 5 -> secret.substring(0, secret.length() - 1);
      case 6 -> secret.substring(0, 4) + secret;
      case 7 -> "\n";
      default -> letters(random, random.nextInt(10));
    };
  }

  /** Few letters, so that beginnings repeat. */
  private static String letters(Random random, int length) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      text.append("ab%\\".charAt(random.nextInt(4)));
    }
    return text.toString();
  }

  private static String json(Masking masking, String text) {
    JsonValue value = Jcs.parse(text.getBytes(StandardCharsets.UTF_8));
    return new String(Jcs.write(masking.apply(value)), StandardCharsets.UTF_8);
  }

  @Test
  void aNumberThatIsASecretIsMaskedWhereItIsANumber() {
    Masking masking = of("4929123456781234", "00012345", "31.41592653", "12345678901234567890");
    assertThat(json(masking, "{\"n\":4929123456781234,\"k\":[-4929123456781234,4929123456781235]}"))
        .isEqualTo("{\"k\":[\"[secret]\",4929123456781235],\"n\":\"[secret]\"}");
    for (String number :
        List.of(
            "4.929123456781234e15",
            "4929123456781234.0",
            "4.929123456781234",
            "0.00004929123456781234",
            "12345",
            "1.2345e4",
            "31.41592653",
            "3141592653",
            "3.141592653e-9",
            "12345678901234567890",
            "1.2345678901234567e19")) {
      assertThat(json(masking, "[" + number + "]")).as(number).isEqualTo("[\"[secret]\"]");
    }
    for (String number : List.of("0", "1", "4929", "12346", "31.4", "314159265", "1e300")) {
      assertThat(json(masking, "[" + number + "]")).as(number).doesNotContain("secret");
    }
  }

  @Test
  void aNumberThatIsASecretIsMaskedInText() {
    Masking masking = of("4929123456781234");
    for (String written :
        List.of(
            "4929123456781234",
            "4.929123456781234",
            "4,929,123,456,781,234",
            "4_929_123_456_781_234",
            "\\u0034929123456781234",
            "%34929123456781234")) {
      assertThat(masked(masking, "<" + written + ">")).as(written).isEqualTo("<[secret]>");
    }
    assertThat(masked(masking, "4.929123456781234e+15")).isEqualTo("[secret]e+15");
    assertThat(masked(masking, "4929 1234 5678 1234")).doesNotContain("secret"); // spec says so
  }

  @Test
  void whatIsNotAsciiIsFoundWhereJsonIsWrittenInAscii() {
    Masking masking = of("pässwörd-😀");
    assertThat(masked(masking, "\"p\\u00e4ssw\\u00F6rd-\\ud83d\\ude00\""))
        .isEqualTo("\"[secret]\"");
    assertThat(masked(masking, "\"pässw\\u00f6rd-\\uD83D\\uDE00\"")).isEqualTo("\"[secret]\"");
    assertThat(masked(masking, "p\\u00e5ssw\\u00f6rd")).isEqualTo("p\\u00e5ssw\\u00f6rd");
  }
}
