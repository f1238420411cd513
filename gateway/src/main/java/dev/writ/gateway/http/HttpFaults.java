package dev.writ.gateway.http;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.message.HttpAnswer;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.util.function.Function;

/**
 * Answers faults for which Vert.x would close the connection silently: an unsupported version of
 * HTTP, and a body with malformed chunks. The connection is closed after the answer.
 */
final class HttpFaults extends ChannelDuplexHandler {
  private final Function<WritException, HttpAnswer> refusal;
  private int requests;
  private boolean responding;
  private boolean over;

  /**
   * @param refusal reports the refusal, and makes its answer
   */
  HttpFaults(Function<WritException, HttpAnswer> refusal) {
    this.refusal = refusal;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (over) {
      ReferenceCountUtil.release(message);
      return;
    }
    if (message instanceof HttpRequest head) {
      requests++;
      if (head.decoderResult().isSuccess() && !isSpoken(head.protocolVersion())) {
        refuse(
            context,
            message,
            new WritException(GatewayError.HTTP_VERSION, "not HTTP/1.1 and not HTTP/1.0"));
        return;
      }
    } else if (message instanceof HttpContent content && content.decoderResult().isFailure()) {
      refuse(
          context, message, new WritException(GatewayError.REQUEST_MALFORMED, "the body's chunks"));
      return;
    }
    context.fireChannelRead(message);
  }

  /**
   * Netty has one object for each of them. What was written in another way, such as {@code
   * http/1.1}, is an equal one, which Vert.x would refuse without saying why.
   */
  private static boolean isSpoken(HttpVersion version) {
    return version == HttpVersion.HTTP_1_1 || version == HttpVersion.HTTP_1_0;
  }

  /**
   * Refuses and closes. Sends no answer if one is already on its way or an earlier request waits
   * for one.
   */
  private void refuse(ChannelHandlerContext context, Object message, WritException why) {
    over = true;
    ReferenceCountUtil.release(message);
    HttpAnswer answer = refusal.apply(why);
    if (responding || requests > 1) {
      context.close();
      return;
    }
    byte[] bytes = ((HttpAnswer.Body.Bytes) answer.body()).bytes();
    FullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1,
            HttpResponseStatus.valueOf(answer.status()),
            Unpooled.wrappedBuffer(bytes));
    answer.headers().forEach(header -> response.headers().add(header.getKey(), header.getValue()));
    response
        .headers()
        .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE)
        .setInt(HttpHeaderNames.CONTENT_LENGTH, bytes.length);
    context.writeAndFlush(response).addListener(ChannelFutureListener.CLOSE);
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise)
      throws Exception {
    // 100 Continue is whole by itself, and the answer is still to come.
    boolean isInterim = message instanceof HttpResponse answer && answer.status().code() < 200;
    if (!isInterim) {
      responding |= message instanceof HttpResponse;
      if (message instanceof LastHttpContent) {
        responding = false;
        requests--;
      }
    }
    super.write(context, message, promise);
  }
}
