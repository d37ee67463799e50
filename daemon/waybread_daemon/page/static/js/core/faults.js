// What goes wrong, as models and views tell it.

/** What a request failed with: a code of the contract, or `link_lost`, `refused`, `offline`. */
export class WireError extends Error {
  /**
   * @param {string} code
   * @param {string} message
   * @param {boolean} [retry]
   */
  constructor(code, message, retry = false) {
    super(message);
    this.name = 'WireError';
    this.code = code;
    this.retry = retry;
  }
}
