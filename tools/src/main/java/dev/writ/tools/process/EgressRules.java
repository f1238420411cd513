package dev.writ.tools.process;

import dev.writ.canonicalize.WritException;
import dev.writ.guardian.policy.NetworkPlace;
import dev.writ.sandbox.egress.EgressRule;
import dev.writ.tools.ToolsError;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;

/** What the params of a call say of the network, as rules of the proxy. */
public final class EgressRules {
  private static final String V4 = "[0-9]{1,3}(\\.[0-9]{1,3}){3}";

  private EgressRules() {}

  /**
   * One rule for each place. The envelope check has let each of them through: policy lists them. An
   * address that is not public may be reached where it is written out, as an address or {@code
   * localhost}, and never by a name that happens to lead there.
   *
   * @param places URLs, or {@code host:port}
   * @throws WritException {@code TOL-060} for what is neither
   */
  public static List<EgressRule> of(List<String> places) {
    LinkedHashSet<EgressRule> rules = new LinkedHashSet<>();
    for (String text : places) {
      NetworkPlace place = place(text);
      String host = place.host();
      boolean v6 = host.startsWith("[") && host.endsWith("]");
      String plain = v6 ? host.substring(1, host.length() - 1) : host;
      boolean written = v6 || plain.equals("localhost") || plain.matches(V4);
      rules.add(new EgressRule(plain, place.port(), written));
    }
    return new ArrayList<>(rules);
  }

  /**
   * Reads one place.
   *
   * @throws WritException {@code TOL-060}
   */
  public static NetworkPlace place(String text) {
    return NetworkPlace.parse(text)
        .orElseThrow(() ->
            new WritException(
                ToolsError.NETWORK_PLACE, "a text of " + text.length() + " characters"));
  }
}
