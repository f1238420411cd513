package dev.writ.console.page;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;

/** Many effects, told in place of what the server has. */
final class LongRun {
  private LongRun() {}

  private static String row(String told) {
    return told.replaceFirst("^.*?\\[(\\{.*?})].*$", "$1");
  }

  /**
   * The page's live stream.
   *
   * @param told an answer with one effect, which is repeated
   * @param effects how many there are in all
   */
  static void stream(Page page, String told, int effects, int perSecond) {
    page.addInitScript(
        """
        {
          const real = window.fetch;
          const stream = out => {
            const began = performance.now();
            const bytes = new TextEncoder();
            const row = %s;
            let sent = 0;
            const timer = setInterval(() => {
              const due = Math.min(%d, Math.floor((performance.now() - began) * %d / 1000));
              let text = '';
              for (; sent < due; sent++) {
                const data = JSON.stringify({...row, index: 1000000 + sent, request_id: 'live ' + sent});
                text += `id: 0.${sent}\\nevent: effect\\ndata: ${data}\\n\\n`;
              }
              if (text !== '') out.enqueue(bytes.encode(text));
              if (sent === %d) clearInterval(timer);
            }, 10);
          };
          window.fetch = (url, options) => String(url).includes('/v1/effects/live')
            ? Promise.resolve(new Response(new ReadableStream({start: stream}), {headers: {'Content-Type': 'text/event-stream'}}))
            : real(url, options);
        }
        """
            .formatted(row(told), effects, perSecond, effects));
  }

  /**
   * @param told an answer with one effect, which is repeated
   */
  static void serve(Page page, String told, int effects) {
    String row = row(told);
    page.route(
        "**/v1/effects?*",
        route -> {
          StringBuilder rows = new StringBuilder();
          for (int i = 0; i < effects; i++) {
            rows.append(i == 0 ? "" : ",")
                .append(
                    row.replaceFirst("\"request_id\":\"[^\"]*\"", "\"request_id\":\"r" + i + "\""));
          }
          route.fulfill(
              new Route.FulfillOptions()
                  .setContentType("application/json")
                  .setBody("{\"effects\":[" + rows + "],\"searched\":{},\"complete\":true}"));
        });
  }
}
