package dev.writ.tools.git;

import dev.writ.sandbox.egress.Broker;
import dev.writ.sandbox.egress.EgressRule;
import dev.writ.tools.process.ProcessCall;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A repository on a server, for one call. The proxy sends only the two requests of git's smart
 * protocol for reading, or for writing.
 *
 * @param writing whether the call pushes
 */
record Remote(RemoteUrl url, Optional<Broker.Credential> credential, boolean writing) {

  List<EgressRule> egress() {
    String service = writing ? "git-receive-pack" : "git-upload-pack";
    Broker broker =
        new Broker(
            credential,
            List.of(
                new Broker.Request("GET", url.path() + "/info/refs?service=" + service),
                new Broker.Request("POST", url.path() + "/" + service)));
    return List.of(ProcessCall.rule(url.host() + ":" + url.port()).by(broker));
  }

  /** Git uses an https URL; inside the sandbox it is replaced by plain HTTP to the proxy. */
  SortedMap<String, String> config() {
    TreeMap<String, String> config = new TreeMap<>();
    config.put("http.proxy", "http://127.0.0.1:3128");
    config.put("url." + url.inside() + ".insteadOf", url.outside());
    return config;
  }
}
