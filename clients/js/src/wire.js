import { NotConnected, RateLimited, ServiceError, serviceError } from './errors.js';

/**
 * A request to the service; `path` is below `/api/v1/memory`.
 *
 * @typedef {object} Request
 * @property {string} method
 * @property {string} path
 * @property {any} [body]
 * @property {Record<string, string>} [query]
 * @property {Record<string, string>} [headers]
 */

/**
 * How often and how patiently a request is repeated; all times in seconds. The wait before repetition n is random, up to
 * `first * 2**n` and at most `longest`. What `Retry-After` asks for is waited for in full, unless it is longer than
 * `patience`; then the error is thrown at once.
 *
 * @typedef {object} Retry
 * @property {number} times
 * @property {number} first
 * @property {number} longest
 * @property {number} patience
 */

/** @type {Retry} */
export const RETRY = { times: 4, first: 0.5, longest: 8, patience: 60 };
export const TEMPORARY = new Set([429, 500, 502, 503, 504]);
/** How long a stream may be silent before it counts as broken, in seconds: the service pings every 15 seconds. */
const SILENT_SECONDS = 45;
/** The code of a conflict that ends by itself: the same write is being carried out. */
const IN_PROGRESS = 'IDEMPOTENCY_KEY_IN_PROGRESS';
/** What says for sure that the service has not received the request. A browser does not say. */
const NOT_RECEIVED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

/** @typedef {{ document: any, status: number, etag: string }} Answer */

/** Sends requests, and repeats them while that may help. */
export class Wire {
  /**
   * @param {string} baseUrl
   * @param {Record<string, string>} headers
   * @param {number} timeout
   * @param {Retry} retry
   * @param {typeof fetch} send
   */
  constructor(baseUrl, headers, timeout, retry, send) {
    this.baseUrl = baseUrl;
    this.headers = headers;
    this.timeout = timeout;
    this.retry = retry;
    this.send = send;
  }

  /**
   * The answer to a request, which is repeated while that may help. Throws `ServiceError` and `NotConnected`.
   *
   * @param {Request} request
   * @returns {Promise<Answer>}
   */
  async exchange(request) {
    let uncertain = false;
    for (let attempt = 0; ; attempt += 1) {
      let failure;
      let asked = 0;
      try {
        const response = await this.fetch(request, AbortSignal.timeout(this.timeout * 1000));
        const document = jsonOf(await arrived(response.text()));
        if (response.status < 400) {
          return { document, status: response.status, etag: response.headers.get('etag') ?? '' };
        }
        asked = askedWait(response.headers.get('retry-after') ?? '');
        failure = serviceError(response.status, document);
        if (failure instanceof RateLimited) failure.retryAfter = asked;
      } catch (error) {
        if (!(error instanceof NotConnected)) throw error;
        failure = error;
      }
      uncertain = failure.uncertain = uncertain || failure.uncertain;
      if (attempt === this.retry.times || asked > this.retry.patience || !isTemporary(failure)) throw failure;
      await this.sleep(this.wait(attempt, asked));
    }
  }

  /**
   * The lines of an answer that goes on; it ends without a word when the connection does. Throws `ServiceError` and
   * `NotConnected`.
   *
   * @param {Request} request
   * @param {AbortSignal} signal
   * @returns {AsyncGenerator<string, void>}
   */
  async *lines(request, signal) {
    const silence = new AbortController();
    const response = await this.fetch(request, AbortSignal.any([signal, silence.signal]));
    if (response.status !== 200 || !response.body) {
      throw serviceError(response.status, jsonOf(await arrived(response.text())));
    }
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    let rest = '';
    try {
      for (;;) {
        const timer = setTimeout(() => silence.abort(), SILENT_SECONDS * 1000);
        const { done, value } = await arrived(reader.read()).finally(() => clearTimeout(timer));
        if (done) return;
        const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
        rest = lines.pop() ?? '';
        yield* lines;
      }
    } finally {
      reader.cancel().catch(() => {}); // it may have ended already, which is as good
    }
  }

  /**
   * Sends a request. Throws `NotConnected`.
   *
   * @param {Request} request
   * @param {AbortSignal} signal
   */
  fetch(request, signal) {
    const { method, path, body, query = {}, headers = {} } = request;
    const search = Object.keys(query).length ? `?${new URLSearchParams(query)}` : '';
    /** @type {Record<string, string>} */
    const kind = body === undefined || body === null ? {} : { 'Content-Type': 'application/json' };
    return arrived(
      this.send(`${this.baseUrl}${path}${search}`, {
        method,
        signal,
        headers: { ...this.headers, ...kind, ...headers },
        body: body === undefined || body === null ? undefined : JSON.stringify(body),
      }),
    );
  }

  /**
   * Seconds to wait after this attempt, the first of which is 0.
   *
   * @param {number} attempt
   */
  wait(attempt, asked = 0) {
    return asked + Math.random() * Math.min(this.retry.longest, this.retry.first * 2 ** attempt);
  }

  /** @param {number} seconds */
  sleep(seconds) {
    return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

/**
 * What a promise of `fetch` brings. Throws `NotConnected` for whatever it throws.
 *
 * @template T
 * @param {Promise<T>} promise
 */
async function arrived(promise) {
  try {
    return await promise;
  } catch (cause) {
    const reason = /** @type {any} */ (cause);
    const failure = new NotConnected(`no answer from the service: ${reason?.cause?.message || reason?.message}`, { cause });
    failure.uncertain = !NOT_RECEIVED.has(reason?.cause?.code);
    throw failure;
  }
}

/** @param {string} text */
function jsonOf(text) {
  try {
    return text ? JSON.parse(text) : undefined;
  } catch {
    return undefined; // not from the service: the status says what to do
  }
}

/** @param {string} text */
function askedWait(text) {
  if (/^\d+$/.test(text)) return Number(text);
  const moment = Date.parse(text);
  return Number.isNaN(moment) ? 0 : Math.max(0, (moment - Date.now()) / 1000);
}

/** @param {ServiceError | NotConnected} failure */
function isTemporary(failure) {
  return !(failure instanceof ServiceError) || TEMPORARY.has(failure.status) || failure.code === IN_PROGRESS;
}
