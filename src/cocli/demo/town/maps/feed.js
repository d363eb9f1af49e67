// The list of results: asks for twenty places at a time, shows them as cards, asks again when the list is scrolled.
(function () {
  "use strict";
  var asked = JSON.parse(document.getElementById("asked").textContent);
  var feed = document.querySelector("[role=feed]");
  var offset = 0, busy = false, done = false;

  function escaped(text) {
    return String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
  }

  function at(value) {
    for (var i = 1; i < arguments.length; i++) {
      if (value === null || value === undefined) return null;
      value = value[arguments[i]];
    }
    return value === undefined ? null : value;
  }

  function placeLink(m) {
    var name = encodeURIComponent(m[11]).replace(/%20/g, "+");
    return location.origin + "/maps/place/" + name + "/data=!4m7!3m6!1s" + m[10] + "!8m2!3d" + m[9][2] + "!4d" + m[9][3] +
      "!16s" + encodeURIComponent(m[89]) + "!19s" + m[78] + "?authuser=0&hl=en&rclk=1";
  }

  function stars(m) {
    var rating = at(m, 4, 7), count = at(m, 4, 8);
    if (rating === null) return "";
    var shown = rating.toFixed(1), total = count === null ? null : count.toLocaleString("en-US");
    return '<div class="W4Efsd"><div class="AJB7ye"><span class="e4rVHe fontBodyMedium"><span role="img" class="ZkP5Je" aria-label="' +
      shown + " stars" + (total === null ? "" : " " + total + " Reviews") + '"><span class="MW4etd" aria-hidden="true">' + shown +
      "</span>" + (total === null ? "" : '<span class="UY7F9" aria-hidden="true">(' + total + ")</span>") + "</span></span></div></div>";
  }

  var dot = '<span> <span aria-hidden="true">·</span> ';

  function lines(m) {
    var first = "<span><span>" + escaped(m[13][0]) + "</span></span>" + dot + "<span>" + escaped(m[2][0]) + "</span></span>";
    var status = at(m, 88, 0) === "CLOSED" ? "Permanently closed" : at(m, 34, 4, 4);
    var phone = at(m, 178, 0, 0), second = "";
    if (status) {
      var parts = status.split(" ⋅ ");
      var colour = parts[1] ? "rgba(25,134,57,1.00)" : "rgba(220,54,46,1.00)";
      second += '<span><span style="font-weight: 400;"><span style="font-weight: 400; color: ' + colour + ';">' + escaped(parts[0]) +
        "</span>" + (parts[1] ? '<span style="font-weight: 400;"> ⋅ ' + escaped(parts[1]) + "</span>" : "") +
        "</span></span>";
    }
    if (phone) second += (second ? dot : "<span>") + '<span class="UsdlK">' + escaped(phone) + "</span></span>";
    return '<div class="W4Efsd"><div class="W4Efsd">' + first + '</div><div class="W4Efsd">' + second + "</div></div>";
  }

  function website(m) {
    var address = at(m, 7, 0);
    if (!address) return "";
    return '<a class="lcr4fd S9kvJb" data-value="Website" jslog="84919; track:click" aria-label="Visit ' + escaped(m[11]) +
      '\'s website" href="' + escaped(address) + '"><div class="R8c4Qb fontLabelMedium">Website</div></a>';
  }

  var ad = '<div class="hHbUWd"><h1 class="kpih0e" aria-label="Sponsored"><span jslog="198205">Sponsored</span><button jslog="198204" ' +
    'data-url="https://adssettings.google.com/aboutthisad?source=maps" aria-label="Why this ad?"></button></h1></div>';

  function card(m, sponsored) {
    var box = document.createElement("div");
    box.innerHTML = '<div role="article" class="Nv2PK THOPZb CpccDe" jsaction="mouseover:pane" aria-label="' + escaped(m[11]) + '"><a class="hfpxzc" ' +
      'aria-label="' + escaped(m[11]) + '" href="' + escaped(placeLink(m)) + '" jslog="' + (sponsored ? "18538" : "12690") +
      ';track:click"></a><div class="bfdHYd">' + (sponsored ? ad : "") + '<div class="lI9IFe"><div class="UaQhfb fontBodyMedium">' +
      '<div class="NrDZNb"><div class="qBF1Pd fontHeadlineSmall">' + escaped(m[11]) + "</div></div>" + stars(m) + lines(m) +
      '</div></div><div class="Rwjeuc">' + website(m) + "</div></div></div>";
    feed.insertBefore(box, feed.lastElementChild);
  }

  function end() {
    feed.lastElementChild.innerHTML = '<div class="PbZDve"><p class="fontBodyMedium"><span><span class="HlvSq">' +
      escaped(asked.end) + "</span></span></p></div>";
    done = true;
  }

  function request() {
    var pb = "!4m12!1m3!1d" + asked.altitude + "!2d" + asked.lon + "!3d" + asked.lat + "!2m3!1f0!2f0!3f0!3m2!1i1024!2i768!4f" +
      asked.zoom + "!7i20!8i" + offset + "!10b1";
    return "/search?tbm=map&authuser=0&hl=en&q=" + encodeURIComponent(asked.phrase) + "&pb=" + encodeURIComponent(pb);
  }

  function more() {
    if (busy || done) return;
    busy = true;
    fetch(request()).then(function (answer) { return answer.text(); }).then(function (text) {
      var answer = JSON.parse(text.slice(text.indexOf("\n") + 1));
      var places = answer[0][1].slice(1).map(function (entry) { return entry[14]; });
      if (offset === 0) asked.ads.forEach(function (m) { card(m, true); });
      places.forEach(function (m) { card(m, false); });
      offset += places.length;
      busy = false;
      if (answer[66] === 1) end();
      else if (!places.length) done = true;
      else if (feed.scrollHeight <= feed.clientHeight) more();
    });
  }

  feed.addEventListener("scroll", function () {
    if (feed.scrollTop + feed.clientHeight > feed.scrollHeight - 300) more();
  });
  more();
})();
