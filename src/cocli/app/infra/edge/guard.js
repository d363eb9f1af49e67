// Runs at CloudFront before every request: who may read is decided here, and by nothing in the page.
// The cookie is `BODY.SIGNATURE`: BODY is JSON in base64url ({"sub", "campaigns", "exp"}), SIGNATURE its HMAC-SHA256.
// The key is filled in at deployment. robots.txt is open; /auth/ is the login itself, which is told under
// which name it was asked for.
var crypto = require('crypto');

var KEY = '@KEY@';
var COOKIE = 'cocli_login';

function same(left, right) {
  if (left.length !== right.length) { return false; }
  var difference = 0;
  for (var i = 0; i < left.length; i++) { difference |= left.charCodeAt(i) ^ right.charCodeAt(i); }
  return difference === 0;
}

function login(cookies, now) {
  var cookie = cookies && cookies[COOKIE];
  var parts = cookie ? cookie.value.split('.') : [];
  if (parts.length !== 2) { return null; }
  var signature = crypto.createHmac('sha256', KEY).update(parts[0]).digest('base64url');
  if (!same(signature, parts[1])) { return null; }
  try {
    var body = JSON.parse(Buffer.from(parts[0], 'base64url').toString('utf8'));
    return typeof body.exp === 'number' && body.exp > now && Array.isArray(body.campaigns) ? body : null;
  } catch (error) {
    return null;
  }
}

function campaignOf(uri) {
  // Decoded until nothing changes: `%64ata` and `/x/../data` must not lead to another file than the one that is judged.
  var path = uri;
  for (var i = 0; i < 4; i++) {
    var next = decodeURIComponent(path);
    if (next === path) { break; }
    path = next;
  }
  if (path.indexOf('..') !== -1 || path.indexOf('\\') !== -1 || path.indexOf('//') !== -1) { return undefined; }
  var parts = path.split('/');
  return parts[1] === 'data' && parts.length > 3 ? parts[2] : null;
}

function refused(status, text, code, message) {
  return {
    statusCode: status,
    statusDescription: text,
    headers: { 'content-type': { value: 'application/json' }, 'cache-control': { value: 'no-store' } },
    body: JSON.stringify({ error: { code: code, message: message, hint: null } })
  };
}

function handler(event) {
  var request = event.request;
  if (request.uri === '/robots.txt') { return request; }
  if (request.uri.indexOf('/auth/') === 0) {
    request.headers['x-cocli-host'] = { value: request.headers.host.value };
    return request;
  }
  var campaign;
  try {
    campaign = campaignOf(request.uri);
  } catch (error) {
    campaign = undefined;
  }
  if (campaign === undefined) { return refused(400, 'Bad Request', 'usage', 'This is no address of a file.'); }
  var who = login(request.cookies, Math.floor(Date.now() / 1000));
  if (who === null) {
    if (request.uri.indexOf('/data/') === 0) {
      return refused(401, 'Unauthorized', 'login_required', 'Nobody is logged in.');
    }
    return {
      statusCode: 302,
      statusDescription: 'Found',
      headers: { location: { value: '/auth/login' }, 'cache-control': { value: 'no-store' } }
    };
  }
  var isOpen = campaign === null || campaign === 'schemas' || who.campaigns.indexOf(campaign) !== -1;
  return isOpen ? request : refused(403, 'Forbidden', 'forbidden', 'This login is not for this campaign.');
}
