/**
 * The error that an answer tells; `document` is its body, which may be anything if a proxy answered.
 *
 * @param {number} status
 * @param {any} document
 * @returns {ServiceError}
 */
export function serviceError(status: number, document: any): ServiceError;
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
    uncertain: boolean;
    get name(): string;
}
/** No answer. */
export class NotConnected extends MemoryClientError {
}
/** A write may have been carried out, and it is too late to repeat it safely: look, then decide. */
export class OutcomeUnknown extends MemoryClientError {
}
/** The service refused the request. */
export class ServiceError extends MemoryClientError {
    /**
     * @param {number} status
     * @param {string} code
     * @param {string} message
     * @param {Record<string, any>} details
     * @param {string} requestId
     */
    constructor(status: number, code: string, message: string, details: Record<string, any>, requestId: string);
    status: number;
    code: string;
    details: Record<string, any>;
    requestId: string;
}
/** The request is not valid. */
export class InvalidRequest extends ServiceError {
}
/** The key is missing, unknown, revoked or expired. */
export class AuthenticationFailed extends ServiceError {
}
/** The key may not do this. */
export class PermissionDenied extends ServiceError {
}
/** The tenant's storage or number of sessions is used up. */
export class QuotaExceeded extends PermissionDenied {
}
/** It does not exist, or the key may not read it. */
export class NotFound extends ServiceError {
}
/** The present state does not allow this. */
export class Conflict extends ServiceError {
}
/** The document has changed since it was read. */
export class VersionConflict extends Conflict {
    /** The version of the present document; empty if the service does not say. */
    get etag(): string;
}
/** The version that was read is needed, or `*`. */
export class PreconditionRequired extends ServiceError {
}
/** Too many requests. */
export class RateLimited extends ServiceError {
    /** Seconds to wait. */
    retryAfter: number;
}
/** A store of the service is not available. */
export class ServiceUnavailable extends ServiceError {
}
/** The service has failed. */
export class ServiceFault extends ServiceError {
}
