package dev.writ.conform.world;

import static dev.writ.conform.world.Plot.close;
import static dev.writ.conform.world.TrustVectors.in;
import static dev.writ.conform.world.TrustVectors.set;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.TestMandate;
import dev.writ.verify.bundle.Remade;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * The vectors on mandates (spec/mandate.md): one run with every way to be right or wrong, which the
 * kernel judges and both verifiers judge again, and a short one in which decisions say something
 * else.
 */
final class MandateVectors {
  private static final String JUDGEMENT = "EXE-956";
  private static final String GOOD = "{\"amount\":2000,\"currency\":\"EUR\",\"payee\":\"shop\"}";

  private final List<Payment> payments = new ArrayList<>();
  private final List<Made> made = new ArrayList<>();

  static List<Made> all() {
    MandateVectors vectors = new MandateVectors();
    vectors.forms();
    vectors.issuers();
    vectors.disclosures();
    vectors.terms();
    vectors.times();
    vectors.bindings();
    vectors.requirements();
    vectors.accounts();
    vectors.wholeRun();
    vectors.forged();
    return vectors.made;
  }

  // ---- payments

  private void pay(String name, String about, String wanted, TestMandate... mandates) {
    pay(name, about, wanted, "pay", GOOD, mandates);
  }

  private void pay(
      String name,
      String about,
      String wanted,
      String tool,
      String params,
      TestMandate... mandates) {
    payments.add(new Payment(name, about, wanted, tool, params, List.of(mandates)));
  }

  private static TestMandate good() {
    return open(text -> text);
  }

  private static TestMandate open(UnaryOperator<String> change) {
    return TestMandate.open(Plot.START, change);
  }

  /** A mandate of its own, so that uses of others do not count. */
  private static TestMandate open(String name, String from, String to) {
    return open(text -> {
      if (!text.contains(from)) {
        throw new IllegalStateException(name + ": nothing to be changed");
      }
      return text.replace(from, to);
    });
  }

  private static String es256(String type) {
    return "{\"alg\":\"ES256\",\"typ\":\"" + type + "\"}";
  }

  private void forms() {
    String code = "GRD-620";
    pay("form-empty", "nothing", code, good().sent(_ -> ""));
    pay("form-no-tilde", "a JWT without disclosures", code, good().sent(t -> t.split("~")[0]));
    pay(
        "form-alg-none",
        "an alg of none",
        code,
        good().header("{\"alg\":\"none\",\"typ\":\"a+sd-jwt\"}"));
    pay(
        "form-alg-hmac",
        "an alg of HMAC",
        code,
        good().header("{\"alg\":\"HS256\",\"typ\":\"a+sd-jwt\"}"));
    pay("form-typ", "a typ of a JWT", code, good().header(es256("JWT")));
    pay("form-typ-closing", "a typ of a closing", code, good().header(es256("kb+sd-jwt")));
    pay("form-without-typ", "no typ", code, good().header("{\"alg\":\"ES256\"}"));
    pay(
        "form-crit",
        "a critical header",
        code,
        good().header("{\"alg\":\"ES256\",\"crit\":[\"exp\"],\"typ\":\"a+sd-jwt\"}"));
    pay(
        "form-sd-alg",
        "another hash",
        code,
        good().payload(t -> t.replace("\"sha-256\"", "\"sha-512\"")));
    pay("form-padding", "base64url with padding", code, good().sent(t -> t.replace(".", "=.")));
    pay(
        "form-padded-disclosure",
        "a disclosure with padding",
        code,
        good().presented(t -> t.substring(0, t.length() - 1) + "=~"));
    pay("form-four-parts", "a JWT of four parts", code, good().sent(t -> "e30." + t));
    pay("form-no-object", "a payload that is no object", code, good().payload(_ -> "[]"));
    pay(
        "form-twice",
        "a member twice",
        code,
        good().payload(t -> t.replace("{\"_sd_alg\"", "{\"iss\":\"x\",\"_sd_alg\"")));
    pay("form-disclosure-alone", "a disclosure of a salt alone", code, good().disclose("[\"s\"]"));
    pay("form-disclosure-salt", "a salt that is no text", code, good().disclose("[1,\"a\",2]"));
    pay(
        "form-disclosure-sd",
        "a disclosure named _sd",
        code,
        good().disclose("[\"s\",\"_sd\",[]]"));
    pay(
        "form-disclosure-item",
        "a disclosure named ...",
        code,
        good().disclose("[\"s\",\"...\",1]"));
    pay("form-disclosures", "129 disclosures", code, manyDisclosures(126));
    pay(
        "form-disclosures-that-are-read",
        "128 disclosures, of which most are not named",
        "GRD-623",
        manyDisclosures(125));
    pay(
        "form-deep",
        "a payload 17 levels deep",
        code,
        good()
            .payload(t ->
                t.replace(
                    "{\"_sd_alg\"", "{\"a\":" + "[".repeat(16) + "]".repeat(16) + ",\"_sd_alg\"")));
    pay("form-unicode", "a text that is no ASCII", code, good().sent(t -> t + "ü"));
  }

  private static TestMandate manyDisclosures(int more) {
    TestMandate mandate = good();
    for (int i = 0; i < more; i++) {
      mandate.disclose("[\"s" + i + "\",1]");
    }
    return mandate;
  }

  private void issuers() {
    String code = "GRD-621";
    pay(
        "issuer-other",
        "signed by somebody whom policy does not trust",
        code,
        good().by("mallory", es256("a+sd-jwt")));
    pay(
        "issuer-changed",
        "another payload under the same signature",
        code,
        good().sent(t -> t.replaceFirst("\\.[^.]*\\.", "." + TestMandate.disclosure("{}") + ".")));
    pay(
        "issuer-iss",
        "the issuer's key, and another iss",
        code,
        good().payload(t -> t.replace("bank.example", "other.example")));
    pay(
        "issuer-alg",
        "the header states the algorithm of another key",
        code,
        good().by("bank", "{\"alg\":\"EdDSA\",\"typ\":\"a+sd-jwt\"}"));
    pay(
        "issuer-short",
        "a signature of 63 bytes",
        code,
        good().sent(t -> t.replaceFirst("[^.~]{2}~", "~")));
  }

  private void disclosures() {
    String code = "GRD-623";
    pay("disclosure-missing", "what is delegated is not disclosed", code, good().hide(2));
    pay(
        "disclosure-twice",
        "a disclosure twice",
        code,
        good().presented(t -> t + t.split("~")[1] + "~"));
    pay(
        "disclosure-changed",
        "a disclosure that was changed",
        code,
        good().hide(0).disclose("[\"s-shop\",{\"id\":\"mine\",\"name\":\"The shop\"}]"));
    pay(
        "disclosure-unnamed",
        "a disclosure that nothing names",
        code,
        good().disclose("[\"s\",\"a\",1]"));
    pay(
        "disclosure-hides-a-limit",
        "a constraint is left out",
        code,
        open(
            "hides",
            "\"constraints\":[",
            "\"constraints\":[{\"...\":\"" + TestMandate.digest("x") + "\"},"));
    pay(
        "disclosure-hides-a-member",
        "a member is left out",
        code,
        open("hides", "{\"cnf\"", "{\"_sd\":[\"" + TestMandate.digest("x") + "\"],\"cnf\""));
    pay(
        "disclosure-hides-of-the-jwt",
        "a member of the JWT itself is left out",
        code,
        good()
            .payload(t ->
                t.replace(
                    "{\"_sd_alg\"", "{\"_sd\":[\"" + TestMandate.digest("x") + "\"],\"_sd_alg\"")));
    String twice = TestMandate.disclosure("[\"s\",\"vct\",\"mandate.payment.open.2\"]");
    pay(
        "disclosure-over-a-member",
        "a disclosed member that is there already",
        code,
        open("over", "{\"cnf\"", "{\"_sd\":[\"" + TestMandate.digest(twice) + "\"],\"cnf\"")
            .presented(t -> t + twice + "~"));
    pay(
        "disclosure-digest-twice",
        "a digest twice",
        code,
        good()
            .payload(t ->
                t.replaceFirst(
                    "\\{\"\\.\\.\\.\":\"([^\"]*)\"\\}", "{\"...\":\"$1\"},{\"...\":\"$1\"}")));
    String named = TestMandate.disclosure("[\"s\",\"id\",\"shop\"]");
    pay(
        "disclosure-member-as-item",
        "a member in the place of an item",
        code,
        open(
                "item",
                "\"allowed\":[",
                "\"allowed\":[{\"...\":\"" + TestMandate.digest(named) + "\"},")
            .presented(t -> t + named + "~"));
    String item = TestMandate.disclosure("[\"s\",\"shop\"]");
    pay(
        "disclosure-item-as-member",
        "an item in the place of a member",
        code,
        open("member", "{\"cnf\"", "{\"_sd\":[\"" + TestMandate.digest(item) + "\"],\"cnf\"")
            .presented(t -> t + item + "~"));
    pay(
        "disclosure-beside",
        "... beside another member",
        code,
        open(
            "beside",
            "\"allowed\":[",
            "\"allowed\":[{\"...\":\"" + TestMandate.digest("x") + "\",\"a\":1},"));
    pay(
        "disclosure-no-digest",
        "a digest that is no text",
        code,
        open("number", "\"allowed\":[", "\"allowed\":[{\"...\":1},"));
    String inner = TestMandate.disclosure("[\"s\",\"id\",\"nest\"]");
    String outer =
        TestMandate.disclosure("[\"s\",{\"_sd\":[\"" + TestMandate.digest(inner) + "\"]}]");
    pay(
        "disclosure-nested",
        "a payee whose id is disclosed by itself",
        "ALLOW",
        "pay",
        GOOD.replace("shop", "nest"),
        open(
                "nested",
                "\"allowed\":[",
                "\"allowed\":[{\"...\":\"" + TestMandate.digest(outer) + "\"},")
            .presented(t -> t + outer + "~" + inner + "~"));
    String proto = TestMandate.disclosure("[\"s\",\"__proto__\",{\"payee\":{\"id\":\"pub\"}}]");
    pay(
        "disclosure-proto",
        "a member with a name that means something elsewhere",
        "ALLOW",
        open("proto", "{\"cnf\"", "{\"_sd\":[\"" + TestMandate.digest(proto) + "\"],\"cnf\"")
            .presented(t -> t + proto + "~"));
    pay(
        "disclosure-no-list",
        "digests that are no list",
        code,
        open("list", "{\"cnf\"", "{\"_sd\":1,\"cnf\""));
    pay(
        "disclosure-named-item",
        "a member named ...",
        code,
        open("named", "{\"cnf\"", "{\"...\":1,\"cnf\""));
  }

  private void terms() {
    String code = "GRD-625";
    String range =
        "{\"currency\":\"EUR\",\"max\":5000,\"min\":100,\"type\":\"payment.amount_range\"}";
    pay(
        "terms-unknown",
        "a constraint that is not known",
        code,
        open(
            "unknown",
            range,
            range + ",{\"type\":\"payment.reference\",\"conditional_transaction_id\":\"x\"}"));
    pay("terms-twice", "a constraint twice", code, open("twice", range, range + "," + range));
    pay(
        "terms-member",
        "a constraint with a member that is not known",
        code,
        open("member", "\"min\":100", "\"min\":100,\"per\":\"day\""));
    pay(
        "terms-fraction",
        "an amount that is no whole number",
        code,
        open("fraction", "5000", "50.5"));
    pay(
        "terms-negative",
        "an amount below zero",
        code,
        open("negative", "\"min\":100", "\"min\":-1"));
    pay(
        "terms-currencies",
        "two currencies",
        code,
        open("currencies", "\"EUR\",\"max\":9000", "\"USD\",\"max\":9000"));
    pay(
        "terms-currency",
        "no currency code",
        code,
        open("currency", "\"EUR\",\"max\":9000", "\"eur\",\"max\":9000"));
    pay(
        "terms-frequency",
        "a frequency that is not kept",
        code,
        open("daily", "ON_DEMAND", "DAILY"));
    pay(
        "terms-instrument",
        "a payment instrument",
        code,
        open(
            "instrument",
            "\"vct\"",
            "\"payment_instrument\":{\"id\":\"x\",\"type\":\"card\"},\"vct\""));
    pay(
        "terms-status",
        "a status list, which nobody asks here",
        code,
        open("status", "\"vct\"", "\"status\":{},\"vct\""));
    pay(
        "terms-status-of-the-jwt",
        "a status list beside what is delegated",
        code,
        good().payload(t -> t.replace("\"iss\"", "\"status\":{},\"iss\"")));
    pay(
        "terms-beside",
        "a limit beside what is delegated",
        code,
        good().payload(t -> t.replace("\"iss\"", "\"payee\":{\"id\":\"pub\"},\"iss\"")));
    pay(
        "terms-audience",
        "for somebody else's use",
        code,
        open("audience", "\"vct\"", "\"aud\":\"https://other.example\",\"vct\""));
    pay(
        "terms-two",
        "two that are delegated",
        code,
        good().payload(t -> t.replace("\"delegate_payload\":[", "\"delegate_payload\":[{},")));
    pay("terms-without-type", "no vct", code, open("type", "\"vct\"", "\"vtc\""));
    pay(
        "terms-without-payee",
        "no payee",
        code,
        open("payee", "payment.allowed_payees", "payment.allowed_payers"));
    pay(
        "terms-payee-without-id",
        "a payee without an id",
        code,
        open("id", "\"allowed\":[", "\"allowed\":[{\"name\":\"x\"},"));
    pay(
        "terms-without-constraints",
        "neither amount nor payee",
        code,
        open("none", "\"constraints\"", "\"constrains\""));
  }

  private void times() {
    String code = "GRD-622";
    long start = Plot.START.getEpochSecond();
    pay("time-over", "it ends now", code, open("over", "" + (start + 3600), "" + start));
    pay(
        "time-last",
        "it ends in a second",
        "ALLOW",
        open("last", "" + (start + 3600), "" + (start + 1)));
    pay("time-without-end", "it has no end", code, open("end", "\"exp\"", "\"expires\""));
    pay(
        "time-fraction",
        "an end that is no whole number",
        code,
        open("end", "" + (start + 3600), (start + 3600) + ".5"));
    pay(
        "time-ahead",
        "it was made three seconds from now",
        code,
        open("iat", "\"iat\":" + start, "\"iat\":" + (start + 3)));
    pay(
        "time-skew",
        "it was made two seconds from now, by another clock",
        "ALLOW",
        open("iat", "\"iat\":" + start, "\"iat\":" + (start + 2)));
    pay(
        "time-not-before",
        "it begins in three seconds",
        code,
        open("nbf", "\"vct\"", "\"nbf\":" + (start + 3) + ",\"vct\""));
    pay(
        "time-of-the-jwt",
        "the JWT itself ended",
        code,
        good().payload(t -> t.replace("\"iss\"", "\"exp\":" + start + ",\"iss\"")));
  }

  private void bindings() {
    String code = "GRD-624";
    pay(
        "binding-none",
        "no key binding JWT",
        code,
        good().sent(t -> t.substring(0, t.lastIndexOf('~') + 1)));
    pay(
        "binding-other-key",
        "another key than the mandate names",
        code,
        good().holder("thief", es256("kb+jwt")));
    pay("binding-typ", "another typ", code, good().bindingHeader(es256("JWT")));
    pay(
        "binding-none-alg",
        "an alg of none",
        code,
        good().bindingHeader("{\"alg\":\"none\",\"typ\":\"kb+jwt\"}"));
    pay(
        "binding-audience",
        "for another installation",
        code,
        good().binding(t -> t.replace("acme.example", "other.example")));
    pay(
        "binding-nonce",
        "for another request",
        code,
        good()
            .binding(t ->
                t.replaceFirst(
                    "\"nonce\":\"[^\"]*\"", "\"nonce\":\"" + TestMandate.digest("x") + "\"")));
    pay(
        "binding-hash",
        "over other disclosures",
        code,
        good()
            .binding(t ->
                t.replaceFirst(
                    "\"sd_hash\":\"[^\"]*\"", "\"sd_hash\":\"" + TestMandate.digest("x") + "\"")));
    pay(
        "binding-ahead",
        "made three seconds from now",
        code,
        good()
            .binding(t ->
                t.replaceFirst("\"iat\":\\d+", "\"iat\":" + (Plot.START.getEpochSecond() + 3))));
    pay(
        "binding-without-iat",
        "without a time",
        code,
        good().binding(t -> t.replaceFirst("\"iat\"", "\"at\"")));
    pay(
        "binding-unnamed",
        "the mandate names no key, so anybody could use it",
        code,
        open("cnf", "\"cnf\"", "\"conf\""));
    pay(
        "binding-weak",
        "the mandate names what is no key",
        code,
        open("cnf", "\"y\":\"", "\"y\":\"AA"));
    pay(
        "binding-null",
        "a cnf that is nothing, above one that is a key",
        code,
        open("cnf", "\"cnf\":{\"jwk\":" + TestMandate.jwk("wallet") + "}", "\"cnf\":null")
            .payload(t ->
                t.replace(
                    "\"iss\"", "\"cnf\":{\"jwk\":" + TestMandate.jwk("wallet") + "},\"iss\"")));
    pay("binding-form", "no JWT", code, good().sent(t -> t.substring(0, t.lastIndexOf('.'))));
  }

  private void requirements() {
    pay("missing", "no mandate", "GRD-626");
    pay(
        "missing-type",
        "a mandate of another type",
        "GRD-626",
        open("type", "mandate.payment.open.1", "mandate.checkout.open.1"));
    pay(
        "payee-other",
        "a payee that is not named",
        "GRD-627",
        "pay",
        GOOD.replace("shop", "pub"),
        good());
    pay(
        "payee-hidden",
        "a payee that was not disclosed",
        "GRD-627",
        "pay",
        GOOD.replace("shop", "smith"),
        good());
    pay(
        "payee-number",
        "a payee that is no text",
        "GRD-627",
        "pay",
        GOOD.replace("\"shop\"", "1"),
        good());
    pay("payee-absent", "no payee", "GRD-627", "pay", GOOD.replace("payee", "to"), good());
    pay(
        "amount-above",
        "more than the mandate is for",
        "GRD-628",
        "pay",
        GOOD.replace("2000", "5001"),
        good());
    pay(
        "amount-below",
        "less than the mandate is for",
        "GRD-628",
        "pay",
        GOOD.replace("2000", "99"),
        good());
    pay(
        "amount-negative",
        "less than nothing",
        "GRD-628",
        "pay",
        GOOD.replace("2000", "-2000"),
        good());
    pay(
        "amount-fraction",
        "a fraction of a cent",
        "GRD-628",
        "pay",
        GOOD.replace("2000", "2000.5"),
        good());
    pay(
        "amount-text",
        "an amount that is a text",
        "GRD-628",
        "pay",
        GOOD.replace("2000", "\"2000\""),
        good());
    pay("currency-other", "another currency", "GRD-628", "pay", GOOD.replace("EUR", "USD"), good());
    pay(
        "beside",
        "a mandate beside something else that holds",
        "ALLOW",
        "mail",
        GOOD,
        alone("beside"));
    pay("beside-unmet", "no mandate, and something else that holds", "GRD-626", "mail", GOOD);
    pay(
        "beside-other",
        "a mandate, and something else that does not hold",
        "GRD-102",
        "mail",
        GOOD.replace("{", "{\"forbidden\":1,"),
        alone("beside-other"));
    pay(
        "instead",
        "a mandate where an approval would do, too",
        "ALLOW",
        "odd",
        GOOD,
        alone("instead"));
    pay(
        "two",
        "one that is over and one that holds",
        "ALLOW",
        "pay",
        GOOD,
        expired(),
        alone("two"));
    pay("not-asked", "a mandate that nothing asks for", "ALLOW", "calc", GOOD, alone("not-asked"));
  }

  /** Another mandate with the same terms. */
  private static TestMandate alone(String name) {
    return open("alone", "\"vct\"", "\"jti\":\"" + name + "\",\"vct\"");
  }

  private static TestMandate expired() {
    long start = Plot.START.getEpochSecond();
    return open("over", "" + (start + 3600), "" + (start - 1));
  }

  private void accounts() {
    pay("total-1", "20.00 of 90.00 EUR", "ALLOW", alone("total"));
    pay(
        "total-2",
        "50.00 more, to another payee",
        "ALLOW",
        "pay",
        GOOD.replace("2000", "5000").replace("shop", "baker"),
        alone("total"));
    pay(
        "total-3",
        "0.01 more than is left",
        "GRD-629",
        "pay",
        GOOD.replace("2000", "2001"),
        alone("total"));
    pay(
        "total-other-signature",
        "the same under the other signature of its issuer",
        "GRD-629",
        "pay",
        GOOD.replace("2000", "2001"),
        alone("total").presented(TestMandate::otherS));
    pay(
        "total-fewer-disclosures",
        "the same with fewer payees disclosed",
        "GRD-629",
        "pay",
        GOOD.replace("2000", "2001"),
        alone("total").hide(1));
    pay("total-4", "what is left", "ALLOW", alone("total"));
    pay(
        "uses-4",
        "a fourth use, of the least amount",
        "GRD-629",
        "pay",
        GOOD.replace("2000", "100"),
        alone("total"));
    String once =
        "{\"cnf\":{\"jwk\":"
            + TestMandate.ed25519("wallet")
            + "},\"exp\":"
            + (Plot.START.getEpochSecond() + 60)
            + ",\"payee\":{\"id\":\"shop\",\"name\":\"The"
            + " shop\"},\"payment_amount\":{\"amount\":2000,\"currency\":\"EUR\"},"
            + "\"vct\":\"mandate.payment.open.1\"}";
    pay("once", "an exact payment, by an issuer and a holder with Ed25519", "ALLOW", ed25519(once));
    pay("once-again", "an exact payment again", "GRD-629", ed25519(once));
    pay(
        "once-other",
        "another amount than the exact one",
        "GRD-628",
        "pay",
        GOOD.replace("2000", "1999"),
        ed25519(once));
  }

  private static TestMandate ed25519(String claims) {
    return TestMandate.plain(claims)
        .by("guild", "{\"alg\":\"EdDSA\",\"typ\":\"dc+sd-jwt\"}")
        .holder("wallet", "{\"alg\":\"EdDSA\",\"typ\":\"kb+jwt\"}");
  }

  // ---- vectors

  private void wholeRun() {
    List<ObjectBuilder> steps = new ArrayList<>(payments.stream().map(Payment::step).toList());
    steps.add(close("run-1", "alice"));
    byte[] bundle = ShortRuns.mandated(steps);
    Remade remade = ShortRuns.remade(bundle);
    List<String> wrong = new ArrayList<>();
    for (Payment payment : payments) {
      JsonValue.Obj decision = remade.document(decision(remade, payment.nonce()));
      String verdict = text(decision.get("verdict"));
      String said = verdict.equals("DENY") ? text(decision.get("code")) : verdict;
      if (!payment.wanted().contains(said)) {
        wrong.add(payment.nonce() + ": " + said + ", not " + payment.wanted());
      }
    }
    if (!wrong.isEmpty()) {
      throw new AssertionError(String.join("\n", wrong));
    }
    made.add(
        Made.bundle(
            "mandate-each-way",
            "mandates that are right or wrong in one way each, and what the kernel said of them",
            "ok",
            Made.inline(bundle)));
  }

  /** What a decision can say otherwise than the mandates that it saw. */
  private void forged() {
    byte[] bundle =
        ShortRuns.mandated(
            List.of(
                new Payment("n-1", "", "", "pay", GOOD, List.of(good())).step(),
                new Payment("n-2", "", "", "pay", GOOD, List.of(expired())).step(),
                new Payment("n-3", "", "", "pay", GOOD.replace("2000", "5000"), List.of(good()))
                    .step(),
                new Payment("n-4", "", "", "pay", GOOD.replace("2000", "2001"), List.of(good()))
                    .step(),
                close("run-1", "alice")));
    made.add(
        Made.bundle(
            "mandate-short",
            "two payments under one mandate, one too much, and one under a mandate that is over",
            "ok",
            Made.inline(bundle)));
    forge(
        bundle,
        "other-reason",
        "a mandate does not count for another reason",
        "n-2",
        mandate(set("refused", "GRD-621")));
    forge(
        bundle,
        "counts",
        "a mandate that is over is said to be missing",
        "n-2",
        set("code", "GRD-626").andThen(check(0, set("code", "GRD-626")))::apply);
    forge(
        bundle,
        "unseen",
        "a mandate that was brought is not mentioned",
        "n-1",
        in("inputs", GovernedVectors.without("mandates")));
    forge(
        bundle,
        "more",
        "a mandate is said to be for more",
        "n-1",
        mandate(set("total", JsonValue.of(90_000))));
    forge(
        bundle,
        "other-issuer",
        "a mandate is said to be another issuer's",
        "n-1",
        mandate(set("issuer", "guild")));
    forge(
        bundle,
        "other-mandate",
        "a mandate is said to be another, whose account is empty",
        "n-1",
        mandate(set("mandate", Digest.sha256().toString())));
    forge(
        bundle,
        "later",
        "a mandate is said to end later",
        "n-1",
        mandate(set("expires_at", "2026-11-21T14:00:00.000Z")));
    forge(
        bundle,
        "intent-later",
        "the answer is said to hold after the mandate's end",
        "n-1",
        in("inputs", set("valid_until", "2026-11-21T13:00:00.001Z")));
    forge(
        bundle,
        "limit",
        "the account of a mandate has another limit",
        "n-1",
        balance(1, set("limit", JsonValue.of(90_000))));
    forge(
        bundle,
        "uncounted",
        "the account of a mandate is not looked at",
        "n-1",
        balances(all -> List.of(all.getFirst(), all.get(2))));
    forge(
        bundle,
        "other-account",
        "the account of another mandate is looked at",
        "n-1",
        balance(1, set("key", "[\"acme\",\"" + Digest.sha256() + "\"]")));
    forge(
        bundle,
        "overdrawn",
        "a payment is allowed for which nothing is left",
        "n-3",
        balance(1, set("used", JsonValue.of(4001))));
    forge(
        bundle,
        "used-up",
        "a payment is allowed for which no use is left",
        "n-3",
        balance(2, set("used", JsonValue.of(3))));
    forge(
        bundle,
        "not-spent",
        "a payment is refused for which enough is left",
        "n-4",
        balance(1, set("used", JsonValue.of(6999))));
    made.add(
        Made.bundle(
            "mandate-forged-audience",
            "the policy names another audience than the one that was signed",
            JUDGEMENT,
            Made.inline(
                changed(
                    bundle,
                    remade ->
                        remade.change(
                            TrustVectors.body(remade, EventKind.POLICY_ACTIVATED),
                            in("mandates", set("audience", "https://writ.other.example")))))));
  }

  private void forge(
      byte[] bundle, String name, String about, String nonce, UnaryOperator<JsonValue.Obj> change) {
    made.add(
        Made.bundle(
            "mandate-forged-" + name,
            about,
            JUDGEMENT,
            Made.inline(
                changed(bundle, remade -> remade.change(decision(remade, nonce), change)))));
  }

  private static byte[] changed(byte[] bundle, Consumer<Remade> change) {
    Remade remade = ShortRuns.remade(bundle);
    change.accept(remade);
    return remade.toBytes();
  }

  private static UnaryOperator<JsonValue.Obj> items(
      String member, UnaryOperator<List<JsonValue>> change) {
    return object ->
        set(member, JsonValue.of(change.apply(((JsonValue.Arr) object.get(member)).items())))
            .apply(object);
  }

  private static UnaryOperator<List<JsonValue>> item(
      int number, UnaryOperator<JsonValue.Obj> change) {
    return all -> {
      List<JsonValue> items = new ArrayList<>(all);
      items.set(number, change.apply((JsonValue.Obj) items.get(number)));
      return items;
    };
  }

  private static UnaryOperator<JsonValue.Obj> mandate(UnaryOperator<JsonValue.Obj> change) {
    return in("inputs", items("mandates", item(0, change)));
  }

  private static UnaryOperator<JsonValue.Obj> balances(UnaryOperator<List<JsonValue>> change) {
    return in("inputs", items("balances", change));
  }

  private static UnaryOperator<JsonValue.Obj> balance(
      int number, UnaryOperator<JsonValue.Obj> change) {
    return balances(item(number, change));
  }

  private static UnaryOperator<JsonValue.Obj> check(
      int number, UnaryOperator<JsonValue.Obj> change) {
    return items("checks", item(number, change));
  }

  private static String text(JsonValue value) {
    return ((JsonValue.Str) value).value();
  }

  private static Digest decision(Remade remade, String nonce) {
    int at =
        TrustVectors.place(
            remade,
            EventKind.REQUEST_RECEIVED,
            document -> document.get("nonce").equals(JsonValue.of(nonce)));
    return remade.steps.get(at + 1).body;
  }
}
