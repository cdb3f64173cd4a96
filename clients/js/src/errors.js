/**
 * What can go wrong, by what the caller can do about it.
 *
 *     MemoryClientError
 *     ├── ServiceError             the service refused the request: code, status, details, requestId
 *     │   ├── InvalidRequest       mend the request
 *     │   ├── AuthenticationFailed the key is missing, unknown, revoked or expired
 *     │   ├── PermissionDenied     the key may not do this
 *     │   │   └── QuotaExceeded    the tenant's storage or number of sessions is used up
 *     │   ├── NotFound             it does not exist, or the key may not read it
 *     │   ├── Conflict             the present state does not allow this: read it and decide again
 *     │   │   └── VersionConflict  it has changed since it was read; `etag` is that of the present version
 *     │   ├── PreconditionRequired read the document first, or pass ifMatch: '*' to overwrite
 *     │   ├── RateLimited          too many requests; `retryAfter` in seconds
 *     │   ├── ServiceUnavailable   an outage, after all retries
 *     │   └── ServiceFault         a fault of the service, after all retries
 *     ├── NotConnected             no answer, after all retries
 *     └── OutcomeUnknown           a write may have been carried out, and it is too late to repeat it safely
 *
 * @module
 */

/** Anything that this package throws. */
export class MemoryClientError extends Error {
  /** Whether a write may have been carried out all the same. */
  uncertain = false;

  get name() {
    return this.constructor.name;
  }
}

/** No answer. */
export class NotConnected extends MemoryClientError {}

/** A write may have been carried out, and it is too late to repeat it safely: look, then decide. */
export class OutcomeUnknown extends MemoryClientError {}

/** The service refused the request. */
export class ServiceError extends MemoryClientError {
  /**
   * @param {number} status
   * @param {string} code
   * @param {string} message
   * @param {Record<string, any>} details
   * @param {string} requestId
   */
  constructor(status, code, message, details, requestId) {
    super(`${code}: ${message}`);
    this.status = status;
    this.code = code;
    this.details = details;
    this.requestId = requestId;
  }
}

/** The request is not valid. */
export class InvalidRequest extends ServiceError {}

/** The key is missing, unknown, revoked or expired. */
export class AuthenticationFailed extends ServiceError {}

/** The key may not do this. */
export class PermissionDenied extends ServiceError {}

/** The tenant's storage or number of sessions is used up. */
export class QuotaExceeded extends PermissionDenied {}

/** It does not exist, or the key may not read it. */
export class NotFound extends ServiceError {}

/** The present state does not allow this. */
export class Conflict extends ServiceError {}

/** The document has changed since it was read. */
export class VersionConflict extends Conflict {
  /** The version of the present document; empty if the service does not say. */
  get etag() {
    return String(this.details.etag ?? '');
  }
}

/** The version that was read is needed, or `*`. */
export class PreconditionRequired extends ServiceError {}

/** Too many requests. */
export class RateLimited extends ServiceError {
  /** Seconds to wait. */
  retryAfter = 0;
}

/** A store of the service is not available. */
export class ServiceUnavailable extends ServiceError {}

/** The service has failed. */
export class ServiceFault extends ServiceError {}

/** @type {Record<number, typeof ServiceError>} */
const BY_STATUS = {
  401: AuthenticationFailed,
  403: PermissionDenied,
  404: NotFound,
  409: Conflict,
  410: Conflict,
  412: VersionConflict,
  428: PreconditionRequired,
  429: RateLimited,
  502: ServiceUnavailable,
  503: ServiceUnavailable,
  504: ServiceUnavailable,
};

/**
 * The error that an answer tells; `document` is its body, which may be anything if a proxy answered.
 *
 * @param {number} status
 * @param {any} document
 * @returns {ServiceError}
 */
export function serviceError(status, document) {
  const error = document?.error ?? {};
  const code = String(error.code ?? `HTTP_${status}`);
  const byStatus = BY_STATUS[status] ?? (status < 500 ? InvalidRequest : ServiceFault);
  const Kind = code === 'MEMORY_LIMIT_EXCEEDED' ? QuotaExceeded : byStatus;
  const message = String(error.message ?? 'no reason was given');
  const failure = new Kind(status, code, message, error.details ?? {}, String(document?.request_id ?? ''));
  failure.uncertain = status >= 500;
  return failure;
}
